# Completion of rubble for bash. The command itself says what fits: `rubble --complete WORD…`.

_rubble() {
    # Bash takes words apart at "=": put them together again.
    local -a words=()
    local word current line i glue=
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $glue || ( $word == = && ${#words[@]} -gt 0 ) ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        [[ $word == = ]] && glue=1 || glue=
    done
    current=${words[${#words[@]} - 1]}
    local lead=
    [[ $COMP_WORDBREAKS == *=* && $current == *=* ]] && lead=${current%=*}=

    COMPREPLY=()
    local path=${current#"$lead"}
    while IFS= read -r line; do
        case $line in
        @folders)
            compopt -o filenames
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$path")
            ;;
        @files*)
            local endings=${line#@files}
            compopt -o filenames
            while IFS= read -r line; do
                [[ -d $line || -z $endings || " $endings " == *" .${line##*.} "* ]] && COMPREPLY+=("$line")
            done < <(compgen -f -- "$path")
            ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$lead"}")
            ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" --complete "${words[@]}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return 0
}

complete -F _rubble rubble
