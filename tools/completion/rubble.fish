# Completion of rubble for fish. The command itself says what fits: `rubble --complete WORD…`.

function __rubble_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] --complete $words[2..] 2>/dev/null)
        switch $line
            case @folders
                __fish_complete_directories (commandline -ct)
            case '@files*'
                set -l endings (string split -n ' ' (string replace @files '' -- $line))
                for path in (__fish_complete_path (commandline -ct))
                    set -l name (string split -f1 \t -- $path)
                    if string match -q '*/' -- $name; or test (count $endings) -eq 0
                        echo $path
                    else
                        for ending in $endings
                            string match -q "*$ending" -- $name; and echo $path
                        end
                    end
                end
            case '*'
                echo $line
        end
    end
end

complete -c rubble -f -a '(__rubble_complete)'
