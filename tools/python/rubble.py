"""rubble for Python: one file, nothing but the standard library and librubble.so.

    import rubble
    engine = rubble.Engine()
    graph = engine.load("wall.json")
    graph["stones"] = 80
    run = graph.evaluate(output_folder="out")
    wall = run["end"]                                   # or run["node.port"]
    positions = wall.view("vertex", "position")         # memoryview, [n][3] doubles, no copy
    for name in wall.names(): …

    graph.bind_mesh("wall", positions, triangles)       # a mesh from memory instead of a file
    evaluation = graph.begin()                          # on another thread; evaluation.cancel(), .wait()
    run.changes(before)                                 # pieces that are not as they were

The library is looked for in $RUBBLE_LIBRARY, beside this file, and where the system looks. Errors are rubble.Error with
`status` and `messages`. Views keep alive what they show. Objects may be used from several threads as rubble.h says.
"""
import array
import collections
import ctypes
import ctypes.util
import json
import os

__all__ = ["Engine", "Graph", "Run", "Collection", "Evaluation", "Error", "Message", "version"]

OK, NO_MEMORY, CANCELLED = 0, 1, 2
_SEVERITIES = {1: "error", 2: "warning", 3: "note"}
#: number: (struct format, components)
_TYPES = {1: ("?", 1), 2: ("i", 1), 3: ("q", 1), 4: ("f", 1), 5: ("d", 1), 6: ("i", 2), 7: ("i", 3), 8: ("f", 2),
    9: ("f", 3), 10: ("f", 4), 11: ("d", 2), 12: ("d", 3), 13: ("d", 4), 14: ("d", 16), 15: ("B", 1)}
_FLOAT_2, _FLOAT_3, _FLOAT_4, _VEC2, _VEC3, _VEC4 = 8, 9, 10, 11, 12, 13

Message = collections.namedtuple("Message", "severity status file line column node pointer text hint")
Report = collections.namedtuple("Report", "node type outcome reason wall_ms")
Change = collections.namedtuple("Change", "name added removed geometry transform before after")
Parameter = collections.namedtuple("Parameter", "pointer name value type min max step unit text variable")


class _Message(ctypes.Structure):
    _fields_ = [("severity", ctypes.c_int), ("status", ctypes.c_int), ("file", ctypes.c_char_p),
        ("line", ctypes.c_size_t), ("column", ctypes.c_size_t), ("node", ctypes.c_char_p),
        ("pointer", ctypes.c_char_p), ("text", ctypes.c_char_p), ("hint", ctypes.c_char_p),
        ("source_line", ctypes.c_char_p), ("caret", ctypes.c_size_t)]


class _EngineOptions(ctypes.Structure):
    """The first members; the library takes a shorter struct of an older version, so what follows is opaque room."""
    _fields_ = [("size", ctypes.c_size_t), ("thread_count", ctypes.c_int), ("memory_bytes", ctypes.c_size_t),
        ("reallocate", ctypes.c_void_p), ("user", ctypes.c_void_p), ("cache_folder", ctypes.c_char_p),
        ("cache_bytes", ctypes.c_size_t), ("room", ctypes.c_char * 512)]


class _EvaluateOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("output_folder", ctypes.c_char_p), ("only_node", ctypes.c_char_p),
        ("no_cache", ctypes.c_bool), ("checked", ctypes.c_bool), ("no_manifest", ctypes.c_bool),
        ("control", ctypes.c_void_p), ("event", ctypes.c_void_p), ("user", ctypes.c_void_p),
        ("room", ctypes.c_char * 512)]


class _NodeReport(ctypes.Structure):
    _fields_ = [("node", ctypes.c_char_p), ("type", ctypes.c_char_p), ("outcome", ctypes.c_int),
        ("reason", ctypes.c_char_p), ("status", ctypes.c_int), ("wall_ms", ctypes.c_double)]


class _View(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("is_list", ctypes.c_bool), ("count", ctypes.c_size_t),
        ("data", ctypes.c_void_p), ("stride", ctypes.c_size_t), ("offsets", ctypes.POINTER(ctypes.c_uint64))]


class _MeshArray(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("stride", ctypes.c_size_t)]


class _MeshDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("vertex_count", ctypes.c_size_t),
        ("positions", _MeshArray), ("triangle_count", ctypes.c_size_t), ("indices", ctypes.c_void_p),
        ("index_bits", ctypes.c_int), ("clockwise", ctypes.c_bool), ("at_corners", ctypes.c_bool),
        ("normals", _MeshArray), ("tangents", _MeshArray), ("colors", _MeshArray), ("uvs", _MeshArray * 8),
        ("materials", ctypes.c_void_p), ("material_names", ctypes.c_void_p), ("material_count", ctypes.c_size_t)]


class _ChangedBone(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("what", ctypes.c_uint), ("before", ctypes.c_int32),
        ("after", ctypes.c_int32)]


class _ParamDesc(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("list", ctypes.c_bool),
        ("default_json", ctypes.c_char_p), ("optional", ctypes.c_bool), ("min", ctypes.c_double),
        ("max", ctypes.c_double), ("step", ctypes.c_double), ("unit", ctypes.c_char_p), ("words", ctypes.c_void_p),
        ("fields", ctypes.c_void_p), ("text", ctypes.c_char_p)]


class _Parameter(ctypes.Structure):
    _fields_ = [("pointer", ctypes.c_char_p), ("name", ctypes.c_char_p), ("desc", ctypes.POINTER(_ParamDesc)),
        ("json", ctypes.c_char_p), ("variable", ctypes.c_char_p), ("connected", ctypes.c_bool)]


def _load():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "librubble.so")
    candidates = [os.environ.get("RUBBLE_LIBRARY"), beside if os.path.exists(beside) else None,
        ctypes.util.find_library("rubble"), "librubble.so.0"]
    name = next(c for c in candidates if c)
    library = ctypes.CDLL(name)
    p, s, n, i = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int
    out = ctypes.POINTER(ctypes.c_void_p)
    signatures = {
        "version_text": (s,), "status_text": (s, i), "param_type_text": (s, i), "outcome_text": (s, i),
        "messages_destroy": (None, p), "messages_count": (n, p), "messages_get": (ctypes.POINTER(_Message), p, n),
        "engine_options_init": (None, p), "engine_create": (i, p, out), "engine_destroy": (None, p),
        "engine_nodes_json": (i, p, s, out), "engine_free_text": (None, p, p),
        "graph_load_file": (i, p, s, out, out), "graph_load_text": (i, p, s, s, n, out, out),
        "graph_destroy": (None, p), "graph_node_count": (n, p), "graph_node_id": (s, p, n),
        "graph_variable_count": (n, p), "graph_variable_name": (s, p, n), "graph_variable_json": (s, p, n),
        "graph_set_variable": (i, p, s, s, out), "graph_set_parameter": (i, p, s, s, out),
        "graph_parameters": (i, p, s, out), "parameters_count": (n, p),
        "parameters_get": (ctypes.POINTER(_Parameter), p, n), "parameters_destroy": (None, p),
        "mesh_desc_init": (None, p), "graph_bind_mesh": (i, p, s, p, out),
        "evaluate_options_init": (None, p), "evaluate": (i, p, p, out), "graph_explain": (i, p, p, out),
        "evaluation_begin": (i, p, p, p, p, out), "evaluation_cancel": (None, p),
        "evaluation_is_done": (ctypes.c_bool, p), "evaluation_progress": (ctypes.c_double, p),
        "evaluation_wait": (i, p), "evaluation_take_run": (p, p), "evaluation_destroy": (None, p),
        "run_destroy": (None, p), "run_status": (i, p), "run_messages": (p, p), "run_node_count": (n, p),
        "run_node": (ctypes.POINTER(_NodeReport), p, n), "run_value": (p, p, s), "run_json": (i, p, out),
        "run_free_text": (None, p, p), "run_changes": (i, p, p, p, s, out), "changes_count": (n, p),
        "changes_get": (ctypes.POINTER(_ChangedBone), p, n), "changes_destroy": (None, p),
        "value_collection": (p, p), "value_get_kind": (i, p), "value_number": (ctypes.c_double, p),
        "value_string": (s, p), "value_points": (p, p, ctypes.POINTER(n)),
        "collection_retain": (p, p), "collection_release": (None, p), "collection_group_count": (n, p),
        "collection_group_name": (s, p, n), "collection_group_size": (n, p, s),
        "collection_attribute_count": (n, p, s), "collection_attribute_name": (s, p, s, n),
        "collection_attribute": (i, p, s, s, ctypes.POINTER(_View)), "collection_string": (s, p, s, s, n),
        "collection_hash_text": (None, p, p),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(library, "rbl_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def _call(name, *arguments):
    return getattr(_library, "rbl_" + name)(*arguments)


def _text(value):
    return value.decode() if value is not None else ""


def _bytes(value):
    return None if value is None else os.fspath(value).encode() if not isinstance(value, bytes) else value


def version():
    return _text(_call("version_text"))


class Error(Exception):
    """Something failed: `status` (a number of rubble/status.h), `messages`, and `run` if an evaluation began."""

    def __init__(self, status, messages=(), run=None):
        self.status, self.messages, self.run = status, list(messages), run
        errors = [m.text for m in self.messages if m.severity == "error"]
        super().__init__("; ".join(errors) or _text(_call("status_text", status)))


def _read_messages(handle):
    result = []
    for i in range(_call("messages_count", handle)):
        m = _call("messages_get", handle, i).contents
        result.append(Message(_SEVERITIES[m.severity], m.status, _text(m.file), m.line, m.column, _text(m.node),
            _text(m.pointer), _text(m.text), _text(m.hint)))
    return result


class _Messages:
    """A list that the library fills."""

    def __init__(self):
        self.handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _call("messages_destroy", self.handle)

    def check(self, status):
        if status != OK:
            raise Error(status, _read_messages(self.handle))


class _Handle:
    """Owns a handle of the library, and keeps what it needs alive."""
    _destroy = None

    def __init__(self, handle, *needs):
        self._handle, self._needs = handle, needs

    def __del__(self):
        if getattr(self, "_handle", None):
            _call(self._destroy, self._handle)
            self._handle = None


class Engine(_Handle):
    """Node types, threads and the cache. `threads` 0: one per core; `memory` bytes of the cache; `cache_folder` keeps
    results between processes."""
    _destroy = "engine_destroy"

    def __init__(self, threads=0, memory=None, cache_folder=None):
        options = _EngineOptions()
        _call("engine_options_init", ctypes.byref(options))
        options.thread_count = threads
        if memory is not None:
            options.memory_bytes = memory
        options.cache_folder = _bytes(cache_folder)
        handle = ctypes.c_void_p()
        status = _call("engine_create", ctypes.byref(options), ctypes.byref(handle))
        if status != OK:
            raise Error(status)
        super().__init__(handle)

    def load(self, path):
        """A graph from a file."""
        handle = ctypes.c_void_p()
        with _Messages() as m:
            m.check(_call("graph_load_file", self._handle, _bytes(path), ctypes.byref(m.handle), ctypes.byref(handle)))
            return Graph(handle, self, _read_messages(m.handle))

    def load_text(self, text, name="graph.json"):
        """A graph from JSON text, or from what json.dumps takes; paths are relative to the folder of `name`."""
        data = (text if isinstance(text, str) else json.dumps(text)).encode()
        handle = ctypes.c_void_p()
        with _Messages() as m:
            m.check(_call("graph_load_text", self._handle, _bytes(name), data, len(data), ctypes.byref(m.handle),
                ctypes.byref(handle)))
            return Graph(handle, self, _read_messages(m.handle))

    def node_types(self):
        """Descriptions of all node types, as dictionaries."""
        text = ctypes.c_void_p()
        status = _call("engine_nodes_json", self._handle, None, ctypes.byref(text))
        if status != OK:
            raise Error(status)
        try:
            return json.loads(ctypes.string_at(text.value))["nodes"]
        finally:
            _call("engine_free_text", self._handle, text)


class Graph(_Handle):
    """A loaded graph. `graph["name"]` is a variable; `graph.messages` are the warnings of loading."""
    _destroy = "graph_destroy"

    def __init__(self, handle, engine, messages):
        super().__init__(handle, engine)
        self.engine, self.messages = engine, messages

    def nodes(self):
        return [_text(_call("graph_node_id", self._handle, i)) for i in range(_call("graph_node_count", self._handle))]

    def variables(self):
        """Names and values, None for one that has none yet."""
        result = {}
        for i in range(_call("graph_variable_count", self._handle)):
            text = _text(_call("graph_variable_json", self._handle, i))
            result[_text(_call("graph_variable_name", self._handle, i))] = json.loads(text) if text else None
        return result

    def __getitem__(self, name):
        return self.variables()[name]

    def __setitem__(self, name, value):
        with _Messages() as m:
            m.check(_call("graph_set_variable", self._handle, name.encode(), json.dumps(value).encode(),
                ctypes.byref(m.handle)))

    def set_parameter(self, node, name, value):
        """`name` with dots inside objects: "noise.amplitude"."""
        pointer = f"/nodes/{node}/params/" + name.replace(".", "/")
        with _Messages() as m:
            m.check(_call("graph_set_parameter", self._handle, pointer.encode(), json.dumps(value).encode(),
                ctypes.byref(m.handle)))

    def parameters(self, node):
        """The node's parameters with range, step, unit, text and value, for sliders."""
        handle = ctypes.c_void_p()
        status = _call("graph_parameters", self._handle, node.encode(), ctypes.byref(handle))
        if status != OK:
            raise Error(status)
        result = []
        for i in range(_call("parameters_count", handle)):
            p = _call("parameters_get", handle, i).contents
            d, text = p.desc.contents, _text(p.json)
            result.append(Parameter(_text(p.pointer), _text(p.name), json.loads(text) if text else None,
                _text(_call("param_type_text", d.type)), d.min, d.max, d.step, _text(d.unit), _text(d.text),
                _text(p.variable)))
        _call("parameters_destroy", handle)
        return result

    def bind_mesh(self, node, positions, triangles=None, *, name=None, normals=None, uvs=None, colors=None,
            clockwise=False):
        """Gives a MeshToCollection node a mesh. `positions`: a buffer of floats or doubles (array, numpy, memoryview),
        or a sequence of (x, y, z); `triangles`: a buffer of 16- or 32-bit integers, or a sequence of triples; normals,
        uvs and colors (RGBA) for each vertex alike. Everything is copied. `positions` None takes the mesh away."""
        if positions is None:
            self._bind(node, None)
            return
        mesh = _MeshDesc()
        _call("mesh_desc_init", ctypes.byref(mesh))
        keep = []
        mesh.name = _bytes(name)
        mesh.positions, mesh.vertex_count = _floats(positions, 3, keep)
        if triangles is None:
            mesh.triangle_count = mesh.vertex_count // 3
        else:
            address, mesh.index_bits, count = _integers(triangles, keep)
            mesh.indices, mesh.triangle_count = address, count // 3
        mesh.clockwise = clockwise
        for member, values, width in (("normals", normals, 3), ("colors", colors, 4)):
            if values is not None:
                setattr(mesh, member, _same_length(*_floats(values, width, keep), mesh.vertex_count, member))
        if uvs is not None:
            mesh.uvs[0] = _same_length(*_floats(uvs, 2, keep), mesh.vertex_count, "uvs")
        self._bind(node, ctypes.byref(mesh))

    def _bind(self, node, mesh):
        with _Messages() as m:
            m.check(_call("graph_bind_mesh", self._handle, node.encode(), mesh, ctypes.byref(m.handle)))

    def evaluate(self, only=None, output_folder=None, cache=True):
        """Evaluates; raises Error (with `.run`) when a node failed."""
        return self._run("evaluate", only, output_folder, cache)

    def explain(self, only=None, cache=True):
        """What evaluate would do now: a Run whose reports say so, and that has no values."""
        return self._run("graph_explain", only, None, cache)

    def _run(self, function, only, output_folder, cache):
        handle = ctypes.c_void_p()
        options = _options(only, output_folder, cache)
        status = _call(function, self._handle, ctypes.byref(options), ctypes.byref(handle))
        return _checked(status, Run(handle, self.engine) if handle else None)

    def begin(self, only=None, output_folder=None, cache=True):
        """Evaluates on another thread; the graph may be changed at once."""
        handle = ctypes.c_void_p()
        options = _options(only, output_folder, cache)
        status = _call("evaluation_begin", self._handle, ctypes.byref(options), None, None, ctypes.byref(handle))
        if status != OK:
            raise Error(status)
        return Evaluation(handle, self)


def _options(only, output_folder, cache):
    options = _EvaluateOptions()
    _call("evaluate_options_init", ctypes.byref(options))
    options.only_node, options.output_folder, options.no_cache = _bytes(only), _bytes(output_folder), not cache
    return options


def _checked(status, run):
    if status != OK:
        raise Error(status, run.messages() if run else (), run)
    return run


def _buffer(values, keep, typecode, formats):
    """Address, format and number of items of a contiguous buffer, made from a sequence when it is none."""
    try:
        view = memoryview(values)
        values = view.tolist() if view.format not in formats or not view.c_contiguous else None
    except TypeError:
        pass
    if values is not None:
        flat = [x for row in values for x in (row if hasattr(row, "__iter__") else (row,))]
        view = memoryview(array.array(typecode, flat))
    flat = view.cast("B")
    whole = ctypes.c_char * len(flat)
    data = whole.from_buffer_copy(flat) if view.readonly else whole.from_buffer(flat)
    keep.extend((view, data))
    return ctypes.addressof(data), view.format, len(flat) // view.itemsize


def _floats(values, width, keep):
    address, kind, count = _buffer(values, keep, "d", ("f", "d"))
    if count % width:
        raise ValueError(f"{count} numbers are no list of {width} each")
    types = {2: (_FLOAT_2, _VEC2), 3: (_FLOAT_3, _VEC3), 4: (_FLOAT_4, _VEC4)}[width]
    return _MeshArray(address, types[kind == "d"], 0), count // width


def _integers(values, keep):
    address, kind, count = _buffer(values, keep, "I", ("H", "h", "I", "i"))
    if count % 3:
        raise ValueError(f"{count} indices are no list of triangles")
    return address, 16 if kind in "Hh" else 32, count


def _same_length(mesh_array, count, wanted, what):
    if count != wanted:
        raise ValueError(f"{count} {what} for {wanted} vertices")
    return mesh_array


class Evaluation(_Handle):
    """An evaluation on another thread. Destroying it cancels it."""
    _destroy = "evaluation_destroy"

    def __init__(self, handle, graph):
        super().__init__(handle, graph)
        self._graph = graph

    def cancel(self):
        _call("evaluation_cancel", self._handle)

    def done(self):
        return _call("evaluation_is_done", self._handle)

    def progress(self):
        return _call("evaluation_progress", self._handle)

    def wait(self):
        """The run; raises Error when a node failed or it was cancelled (status CANCELLED)."""
        status = _call("evaluation_wait", self._handle)
        handle = _call("evaluation_take_run", self._handle)
        return _checked(status, Run(ctypes.c_void_p(handle), self._graph.engine) if handle else None)


class Run(_Handle):
    """What an evaluation gave. `run["node"]` or `run["node.port"]` is a value: a Collection, a number, text, points."""
    _destroy = "run_destroy"

    def __init__(self, handle, engine):
        super().__init__(handle, engine)
        self._engine = engine

    def __getitem__(self, name):
        value = _call("run_value", self._handle, name.encode())
        if not value:
            raise KeyError(name)
        kind = _call("value_get_kind", value)
        if kind == 1:
            return Collection(_call("collection_retain", _call("value_collection", value)), self)
        if kind == 2:
            count = ctypes.c_size_t()
            data = _call("value_points", value, ctypes.byref(count))
            return [tuple(p) for p in (ctypes.c_double * 3 * count.value).from_address(data)] if count.value else []
        if kind in (5, 6, 7):
            number = _call("value_number", value)
            return bool(number) if kind == 5 else int(number) if kind == 6 else number
        return _text(_call("value_string", value)) if kind == 8 else None

    def messages(self):
        return _read_messages(_call("run_messages", self._handle))

    def reports(self):
        """What each node did: node, type, outcome ("ran", "memory hit", …), reason, wall_ms."""
        result = []
        for i in range(_call("run_node_count", self._handle)):
            r = _call("run_node", self._handle, i).contents
            result.append(Report(_text(r.node), _text(r.type), _text(_call("outcome_text", r.outcome)),
                _text(r.reason), r.wall_ms))
        return result

    def json(self):
        """The whole report as a dictionary."""
        text = ctypes.c_void_p()
        status = _call("run_json", self._handle, ctypes.byref(text))
        if status != OK:
            raise Error(status)
        try:
            return json.loads(ctypes.string_at(text.value))
        finally:
            _call("run_free_text", self._handle, text)

    def changes(self, before, output):
        """Bones of `output` that are not as in the run `before` (None: all are new)."""
        handle = ctypes.c_void_p()
        status = _call("run_changes", self._engine._handle, before._handle if before else None, self._handle,
            output.encode(), ctypes.byref(handle))
        if status != OK:
            raise Error(status)
        result = []
        for i in range(_call("changes_count", handle)):
            c = _call("changes_get", handle, i).contents
            result.append(Change(_text(c.name), bool(c.what & 1), bool(c.what & 2), bool(c.what & 4), bool(c.what & 8),
                c.before, c.after))
        _call("changes_destroy", handle)
        return result


class Collection(_Handle):
    """Groups of attributes (docs/collection.md), without copies. It outlives its run."""
    _destroy = "collection_release"

    def groups(self):
        return [_text(_call("collection_group_name", self._handle, i))
            for i in range(_call("collection_group_count", self._handle))]

    def size(self, group):
        return _call("collection_group_size", self._handle, group.encode())

    def attributes(self, group):
        return [_text(_call("collection_attribute_name", self._handle, group.encode(), i))
            for i in range(_call("collection_attribute_count", self._handle, group.encode()))]

    def _attribute(self, group, name):
        view = _View()
        if _call("collection_attribute", self._handle, group.encode(), name.encode(), ctypes.byref(view)) != OK:
            raise KeyError(f"{group}.{name}")
        return view

    def view(self, group, name):
        """A read-only memoryview: [n], or [n][components]; of a list attribute all values, see `offsets`."""
        view = self._attribute(group, name)
        form, width = _TYPES[view.type]
        count = view.offsets[view.count] if view.is_list else view.count
        size = count * width * ctypes.sizeof({"?": ctypes.c_bool, "i": ctypes.c_int32, "q": ctypes.c_int64,
            "f": ctypes.c_float, "d": ctypes.c_double, "B": ctypes.c_uint8}[form])
        if not size:
            return memoryview(b"")
        data = (ctypes.c_char * size).from_address(view.data)
        data._collection = self  # the view keeps the array, the array the collection
        flat = memoryview(data).cast("B").toreadonly()
        return flat.cast(form, (count, width) if width > 1 else (count,))

    def offsets(self, group, name):
        """Where each element of a list attribute begins in `view`, and the end."""
        view = self._attribute(group, name)
        if not view.is_list:
            raise TypeError(f"{group}.{name} is no list")
        return list(view.offsets[: view.count + 1])

    def strings(self, group, name):
        return [_text(_call("collection_string", self._handle, group.encode(), name.encode(), i))
            for i in range(self.size(group))]

    def names(self):
        return self.strings("bone", "name")

    def hash(self):
        text = ctypes.create_string_buffer(33)
        _call("collection_hash_text", self._handle, text)
        return text.value.decode()
