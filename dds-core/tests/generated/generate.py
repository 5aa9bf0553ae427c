#!/usr/bin/env python3
"""Generates random types for Rust and for Cyclone DDS's Python. The same seed gives the same types.

    generate.py SEED COUNT RUST_FILE PYTHON_FILE

The Rust file has the types, random values, and functions that write them as text. The Python file has the classes and TYPES, which maps each
topic type to its class and its shape. `peer.py` uses the shape to write values as text.

A shape is a list: ["b"] bool, ["i"] integer, ["f"] and ["d"] floats, ["c"] char, ["w"] wchar, ["s"] string, ["E"] enum, ["M"] bitmask,
["l", element] array or sequence, ["m", key, value] map, ["o", value] optional, ["S", [[member, shape], ...]] structure, ["U", shape of the
discriminator, [[[label, ...], shape], ...], shape of the default case or null] union, ["r", name] the enclosing structure of that name.
"""

import random
import sys
from dataclasses import dataclass


@dataclass
class Type:
    """A type in both languages, with properties that a containing type inherits."""

    rust: str
    value: str
    python: str
    shape: list
    # Bound of a member of this type, or 0.
    bound: int = 0
    # Its `u8` are octets; the member has the attribute.
    is_octet: bool = False
    # Type checks distinguish aliases, but the derive does not see Rust's aliases.
    has_alias: bool = False
    # A final struct or union. Inside other types only its name identifies it (XTYPES 1.3, 7.2.4.2). An alias in it therefore makes
    # a different type, and such types match by name.
    is_final_type: bool = False
    goes_by_name: bool = False
    # Can be (part of) a key here. Types with optional members cannot.
    is_keyable: bool = True
    # A part of it marks key members.
    has_key: bool = False
    # These two prevent a comparison of XCDR1 byte by byte, or any comparison.
    has_parameters: bool = False
    has_small_enum: bool = False
    # Cyclone's Python has its TypeObject. It has none of maps, `List`, `bytes`, and unions with a char discriminator.
    is_described: bool = True
    # Cyclone creates a working topic of it, if it has a TypeObject. It does not for recursive types; for unions with a 64-bit
    # discriminator, with a discriminator as key, or with negative labels of 8 or 16 bits. Its Python passes those labels to its C
    # library as 32 bits. The C library crashes for key members behind a base.
    is_live: bool = True
    # As a part of a key, it is too much for the C library of Cyclone: a collection of types that mark key members, a struct of
    # these, or a struct with a base and without key members.
    crashes_as_key: bool = False
    # A part of it is a wchar. Cyclone creates no topic of a type with a wchar in its key.
    has_wide: bool = False
    # Cyclone's Python may deviate in XCDR2: a map, a `List` of primitives, or `bytes` (see `standard.py`).
    differs: bool = False
    # It is appendable. In XCDR1 only the surrounding bytes define its end.
    is_open: bool = False
    # A part of it is appendable, and its surroundings do not define its end in XCDR1.
    has_open: bool = False
    # A key of it contains no DHEADER.
    is_final: bool = True
    nesting: int = 0


INTEGERS = [(f"{sign}{bits}", f"r.int() as {sign}{bits}", f"types.{name}{bits}")
            for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)]


# The shapes of XCDR2's primitive types.
PRIMITIVES = "bifdcw"


def by_name(part):
    """Whether a type with such a part can only match by name."""
    return part.goes_by_name or part.has_alias and part.is_final_type


def leaf(rng):
    pick = rng.randrange(18)
    if pick < 8:
        rust, value, python = INTEGERS[pick]
        return Type(rust, value, python, ["i"])
    return [
        Type("bool", "r.flag()", "bool", ["b"]),
        Type("f32", "r.f32()", "types.float32", ["f"], is_keyable=False),
        Type("f64", "r.f64()", "types.float64", ["d"], is_keyable=False),
        Type("char", "r.letter()", "types.char", ["c"]),
        Type("String", "r.text()", "str", ["s"]),
        Type("u8", "r.int() as u8", "types.byte", ["i"], is_octet=True),
        Type("Char16", "Char16(r.wide())", "types.wchar", ["w"], has_wide=True),
        Type("i64", "r.int()", "int", ["i"]),
        Type("f64", "r.f64()", "float", ["d"], is_keyable=False),
        Type("Vec<u8>", "r.list(9, |r| r.int() as u8)", "bytes", ["l", ["i"]], is_octet=True, is_described=False, differs=True),
    ][pick - 8]


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.rust, self.python = [], []
        self.count = 0
        self.named = []
        self.enums = {}
        self.shapes = {}

    def new_name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    # Composed types

    def any_type(self, depth):
        """A member's type, at most `depth` levels deep."""
        rng = self.rng
        pick = rng.random()
        if depth == 0 or pick < 0.42:
            return leaf(rng)
        if pick < 0.54:
            return self.sequence(self.any_type(depth - 1))
        if pick < 0.66:
            return self.array(self.any_type(depth - 1))
        if pick < 0.70:
            return self.typedef(self.any_type(depth - 1))
        if pick < 0.74:
            return self.map(self.any_type(depth - 1))
        if pick < 0.76:
            return self.list(self.any_type(depth - 1))
        fitting = [named for named in self.named if named.nesting < depth]
        if fitting and rng.random() < 0.5:
            return rng.choice(fitting)
        make = rng.choice([self.enum, self.bitmask, lambda: self.union(depth - 1), lambda: self.structure(depth - 1)])
        made = make()
        made = made[0] if isinstance(made, tuple) else made
        self.named.append(made)
        return made

    def member_type(self, depth):
        """As `any_type`, or a bounded type, which only a member can have."""
        pick = self.rng.random()
        bound = self.rng.choice([1, 2, 7, 30, 255, 256, 1000])
        if pick < 0.05:
            return Type("String", f"r.ascii({bound})", f"types.bounded_str[{bound}]", ["s"], bound=bound)
        if pick < 0.10:
            element = self.any_type(min(depth, 1))
            return self.sequence(element, bound)
        return self.any_type(depth)

    def derived(self, of, rust, value, python, shape, **more):
        """A type that contains another one, with its inherited properties."""
        inherited = {name: getattr(of, name) for name in (
            "is_octet", "has_alias", "is_final_type", "goes_by_name", "is_keyable", "has_key", "has_parameters", "has_small_enum", "is_final", "is_described",
            "is_live", "crashes_as_key", "has_wide", "differs", "has_open", "nesting")}
        return Type(rust, value, python, shape, **(inherited | more))

    def sequence(self, element, bound=0):
        len_max = min(bound, 9) if bound else self.rng.choice([3, 3, 3, 9])
        if element.shape[0] in PRIMITIVES and not bound and self.rng.random() < 0.1:
            len_max = 300
        suffix = f", {bound}" if bound else ""
        return self.derived(element, f"Vec<{element.rust}>", f"r.list({len_max}, |r| {element.value})",
                            f"types.sequence[{element.python}{suffix}]", ["l", element.shape], bound=bound,
                            is_keyable=element.is_keyable, crashes_as_key=element.has_key or element.crashes_as_key, has_open=element.is_open or element.has_open)

    def list(self, element):
        """Python's list, a sequence for Cyclone as well, but with other code."""
        made = self.sequence(element)
        made.python, made.is_described = f"List[{element.python}]", False
        made.differs |= element.shape[0] in PRIMITIVES
        return made

    def map(self, value):
        # Keys and values take no attributes, not even `octet`.
        while value.is_octet:
            value = leaf(self.rng)
        key = leaf(self.rng)
        while key.is_octet or not key.is_keyable:
            key = leaf(self.rng)
        len_max = self.rng.choice([1, 3, 3, 9])
        return self.derived(value, f"BTreeMap<{key.rust}, {value.rust}>", f"r.map({len_max}, |r| {key.value}, |r| {value.value})",
                            f"Dict[{key.python}, {value.python}]", ["m", key.shape, value.shape], is_keyable=False,
                            is_described=False, differs=True, has_open=value.is_open or value.has_open)

    def array(self, element):
        length = self.rng.choice([1, 2, 3, 5])
        if element.shape[0] in PRIMITIVES and self.rng.random() < 0.05:
            length = 300
        return self.derived(element, f"[{element.rust}; {length}]", f"std::array::from_fn(|_| {element.value})",
                            f"types.array[{element.python}, {length}]", ["l", element.shape],
                            is_keyable=element.is_keyable, crashes_as_key=element.has_key or element.crashes_as_key, has_open=element.is_open or element.has_open)

    def typedef(self, of):
        name = self.new_name("Alias")
        self.rust.append(f"type {name} = {of.rust};")
        self.python.append(f'{name} = types.typedef["{name}", {of.python}]')
        # The derive must see a `u8` that it describes as an octet.
        rust = of.rust if of.is_octet else name
        if of.is_octet:
            self.rust.pop()
        return self.derived(of, rust, of.value, name, of.shape, is_open=of.is_open, has_alias=True)

    def enum(self):
        rng, name = self.rng, self.new_name("E")
        bits = rng.choice([None, None, 8, 16, 32])
        top = min(2 ** (bits or 31), 2**31) - 1
        numbers = [0] + rng.sample(range(1, 12), rng.randrange(1, 5)) + ([top] if rng.random() < 0.3 else [])
        literals = ", ".join(f"L{index} = {number}" for index, number in enumerate(numbers))
        bound = f"#[dds(bit_bound = {bits})]\n" if bits else ""
        self.rust.append(f"""
#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
{bound}enum {name} {{ {literals} }}
#[allow(dead_code, reason = "some are only discriminators")]
impl {name} {{
    const ALL: &[Self] = &[{", ".join(f"Self::L{index}" for index in range(len(numbers)))}];
}}
impl Show for {name} {{
    fn show(&self, text: &mut String) {{ (*self as i32).show(text) }}
}}""")
        decorator = f"@annotate.bit_bound({bits})\n" if bits else ""
        lines = "\n".join(f"    L{index} = {number}" for index, number in enumerate(numbers))
        self.python.append(f'{decorator}class {name}(IdlEnum, typename="{name}"):\n{lines}')
        self.enums[name] = numbers
        return Type(name, f"*r.one_of({name}::ALL)", name, ["E"], has_small_enum=bits in (8, 16)), len(numbers)

    def bitmask(self):
        rng, name = self.rng, self.new_name("M")
        bits = rng.choice([8, 12, 16, 20, 32, 64])
        unsigned = next(size for size in (8, 16, 32, 64) if bits <= size)
        positions = sorted(rng.sample(range(bits), rng.randrange(1, min(bits, 6))))
        flags = ", ".join(f"B{position} = {position}" for position in positions)
        mask = sum(1 << position for position in positions)
        self.rust.append(f"""
#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[dds(bitmask, bit_bound = {bits}, flags({flags}))]
struct {name}(u{unsigned});
impl Show for {name} {{
    fn show(&self, text: &mut String) {{ self.0.show(text) }}
}}""")
        lines = "\n".join(f'    B{position}: bool\n    annotate.position("B{position}", {position})' for position in positions)
        # Positions from 32 on need this, because the decorator applies too late for them.
        bound = f'    __idl_annotations__["bit_bound"] = {bits}'
        self.python.append(f'@dataclass\nclass {name}(IdlBitmask, typename="{name}"):\n{bound}\n{lines}')
        return Type(name, f"{name}(r.int() as u{unsigned} & {mask:#x})", name, ["M"])

    def union(self, depth):
        rng, name = self.rng, self.new_name("U")
        appendable = rng.random() < 0.5
        kind = rng.choice(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "octet", "bool", "char", "enum"])
        is_nested, is_key = rng.random() < 0.3, rng.random() < 0.2
        shape = {"bool": ["b"], "char": ["c"], "enum": ["E"]}.get(kind, ["i"])
        python_kind = {"bool": "bool", "char": "types.char", "octet": "types.byte"}.get(kind) or f"types.{kind.replace('i', 'int').replace('u', 'uint')}"
        case_count = rng.randrange(1, 4)
        per_case = [rng.randrange(1, 3) for _ in range(case_count)]
        unused, has_small_enum, is_described, is_live = 100, False, kind != "char", True
        if kind == "bool":
            # With both values as labels, Cyclone's Python creates no union, because it searches for a third value.
            labels = [[rng.random() < 0.5]]
        elif kind == "char":
            labels, unused = [[chr(ord("a") + 3 * index + more) for more in range(count)] for index, count in enumerate(per_case)], "z"
        elif kind == "enum":
            of, literals = self.enum()
            labels = [[index] for index in range(min(case_count, literals - 1))]
            unused, kind, python_kind, has_small_enum = literals - 1, of.rust, of.rust, of.has_small_enum
        else:
            first = 0 if kind[0] in "uo" or (kind in ("i8", "i16") and rng.random() < 0.5) else -4
            is_live = kind not in ("i64", "u64") and (kind not in ("i8", "i16") or first == 0)
            labels = [[first + 3 * index + more for more in range(count)] for index, count in enumerate(per_case)]
        has_default = rng.random() < 0.5 and kind != "bool"
        members = [self.any_type(depth) for _ in range(len(labels) + has_default)]

        def rust(label):
            if shape == ["E"]:
                return f"{kind}::L{label}"
            return str(label).lower() if kind == "bool" else repr(label)

        def python(labels):
            return f"[{', '.join(f'{kind}.L{label}' for label in labels)}]" if shape == ["E"] else repr(labels)

        variants, values, shows, lines = [], [], [], []
        for index, member in enumerate(members):
            is_default = index == len(labels)
            of_case = [] if is_default else labels[index]
            case = "default" if is_default else f"case = [{', '.join(map(rust, of_case))}]"
            # Cyclone counts from 0.
            attributes = [case] + ["octet"] * member.is_octet + ["id = 0"] * (index == 0)
            variants.append(f"#[dds({', '.join(attributes)})] C{index}(#[dds(discriminator)] {'u8' if kind == 'octet' else kind}, {member.rust})")
            label = rust(unused) if is_default else f"*r.one_of(&[{', '.join(map(rust, of_case))}])"
            values.append(f"{index} => Self::C{index}({label}, {member.value})")
            shows.append(f"Self::C{index}(label, value) => show_union(text, label, value)")
            lines.append(f"    C{index}: types.{'default' if is_default else 'case'}[{'' if is_default else f'{python(of_case)}, '}{member.python}]")
        self.rust.append(f"""
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds({', '.join(['appendable' if appendable else 'final', f'discriminator = {kind}'] + ['nested'] * is_nested + ['key'] * is_key)})]
enum {name} {{ {", ".join(variants)} }}
impl {name} {{
    fn random(r: &mut Random) -> Self {{ match r.below({len(members)}) {{ {", ".join(values)}, _ => unreachable!() }} }}
}}
impl Show for {name} {{
    fn show(&self, text: &mut String) {{ match self {{ {", ".join(shows)} }} }}
}}""")
        decorator = "@annotate.appendable\n" * appendable + "@annotate.nested\n" * is_nested
        body = "\n".join(lines)
        key = ", discriminator_is_key=True" * is_key
        self.python.append(f'{decorator}class {name}(IdlUnion, discriminator={python_kind}{key}, typename="{name}"):\n{body}')
        numbers = [of_case if shape != ["E"] else [self.enums[kind][label] for label in of_case] for of_case in labels]
        cases = [[of_case, member.shape] for of_case, member in zip(numbers, members)]
        default = members[-1].shape if has_default else None
        return Type(name, f"{name}::random(r)", name, ["U", shape, cases, default], is_keyable=False,
                    nesting=1 + max(member.nesting for member in members),
                    has_alias=any(member.has_alias for member in members),
                    is_final_type=not appendable,
                    goes_by_name=any(by_name(member) for member in members),
                    has_parameters=any(member.has_parameters for member in members),
                    is_described=is_described and all(member.is_described for member in members),
                    is_live=is_live and not is_key and all(member.is_live for member in members),
                    has_wide=any(member.has_wide for member in members),
                    differs=any(member.differs for member in members),
                    is_open=appendable,
                    has_open=any(member.is_open or member.has_open for member in members),
                    has_small_enum=has_small_enum or any(member.has_small_enum for member in members),
                    is_final=not appendable and all(member.is_final for member in members))

    def structure(self, depth, is_topic=False):
        rng, name = self.rng, self.new_name("T" if is_topic else "S")
        extensibility = rng.choice(["final", "appendable", "mutable"])
        members = [self.member(f"m{index}", depth, extensibility) for index in range(rng.randrange(1, 8))]
        if not is_topic and rng.random() < 0.7:
            keys = []
        else:
            keyable = [member for member in members if member["type"].is_keyable and not member["optional"]]
            keys = rng.sample(keyable, min(len(keyable), rng.choice([0, 1, 1, 2, 3])))
        for member in keys:
            member["key"] = True
        if rng.random() < 0.06:
            members.append(self.member_of(self.itself(name), f"m{len(members)}", extensibility))
        hash_ids = extensibility == "mutable" and rng.random() < 0.2
        says = [extensibility] + ["nested"] * (not is_topic and rng.random() < 0.3)
        base = members[: len(members) // 2] if rng.random() < 0.1 else []
        adds_keys = bool(base) and any(member["key"] for member in members[len(base):])
        if base and keys:
            # The derive requires growing ids of key members behind a base.
            hash_ids = False
            for member in members:
                member["id"], member["hash_id"] = None, False
        if base:
            self.struct_of_rust(f"{name}Base", [extensibility], hash_ids, base, [])
            self.struct_of_python(f"{name}Base", "IdlStruct", [extensibility], hash_ids, base)
        # Without key members, a struct in a key contributes the keys of its members.
        has_optional = any(member["optional"] for member in members)
        of_members = [member["type"] for member in members]
        member_keys = not keys and not base and not has_optional and all(of.is_keyable for of in of_members) and any(
            of.has_key for of in of_members)
        self.struct_of_rust(name, [*says, "member_keys"] if member_keys else says, hash_ids, members[len(base):], base)
        self.struct_of_python(name, f"{name}Base" if base else "IdlStruct", says, hash_ids, members[len(base):])
        if is_topic:
            self.rust.append(f"impl Sample for {name} {{\n    fn random(r: &mut Random) -> Self {{ {name}::random(r) }}\n}}")
        types = [member["type"] for member in members]
        shape = ["S", [[member["name"], self.member_shape(member)] for member in members]]
        self.shapes[name] = shape
        # The key of a member is its type's key members, or the whole member.
        keyed = [member["type"] for member in keys] or types
        # The header of the member defines its end.
        open_members = [member["type"] for member in members if not member["optional"] and extensibility != "mutable"]
        return Type(name, f"{name}::random(r)", name, shape,
                    is_keyable=not has_optional and all(of.is_keyable for of in types) and (bool(keys) or member_keys or not any(of.has_key for of in types)),
                    has_key=bool(keys) or any(of.has_key for of in types),
                    nesting=1 + max(of.nesting for of in types),
                    has_alias=any(of.has_alias for of in types),
                    is_final_type=extensibility == "final",
                    goes_by_name=any(by_name(of) for of in types),
                    has_parameters=extensibility == "mutable" or has_optional or any(of.has_parameters for of in types),
                    has_small_enum=any(of.has_small_enum for of in types),
                    is_described=all(of.is_described for of in types),
                    is_live=not adds_keys and all(of.is_live for of in types) and not any(
                        member["type"].has_wide or member["type"].crashes_as_key for member in keys),
                    crashes_as_key=member_keys or bool(base) and not keys or any(of.crashes_as_key for of in keyed),
                    has_wide=any(of.has_wide for of in types),
                    differs=any(of.differs for of in types),
                    is_open=extensibility == "appendable",
                    has_open=any(of.has_open for of in types) or any(of.is_open for of in open_members),
                    is_final=extensibility == "final" and all(of.is_final for of in keyed)), bool(keys)

    def itself(self, name):
        """A member through which the structure of this name contains itself."""
        of = Type(f"Vec<{name}>", f"r.deeper(|r| r.list(2, |r| {name}::random(r)))", f"types.sequence['{name}']", ["l", ["r", name]],
                  is_keyable=False, is_live=False)
        boxed = Type(f"Option<Box<{name}>>", f"r.deeper(|r| r.option(|r| Box::new({name}::random(r))))", f"Optional['{name}']", ["o", ["r", name]],
                     is_keyable=False, has_parameters=True, is_live=False)
        return self.rng.choice([of, boxed])

    def member(self, name, depth, extensibility):
        member = self.member_of(self.member_type(depth), name, extensibility)
        member["optional"] = self.rng.random() < 0.15
        return member

    def member_of(self, of, name, extensibility):
        rng = self.rng
        return {
            "name": name,
            "type": of,
            "optional": False,
            "key": False,
            "id": rng.randrange(100, 200) * 100 + int(name[1:]) if extensibility == "mutable" and rng.random() < 0.3 else None,
            "hash_id": extensibility == "mutable" and rng.random() < 0.1,
            "must_understand": extensibility == "mutable" and rng.random() < 0.1,
            "external": rng.random() < 0.05,
        }

    def member_shape(self, member):
        return ["o", member["type"].shape] if member["optional"] else member["type"].shape

    def struct_of_rust(self, name, says, hash_ids, members, base):
        fields, values, shows = [], [], []
        if base:
            has_key = any(member["key"] for member in base)
            fields.append(f"    #[dds({'base, key' if has_key else 'base'})] base: {name}Base,")
            values.append(f"base: {name}Base::random(r)")
            shows = [f"self.base.{member['name']}.show(text);" for member in base]
        for member in members:
            of = member["type"]
            attributes = ["octet"] * of.is_octet + [word for word in ("key", "must_understand", "external") if member[word]]
            attributes += [f"bound = {of.bound}"] * bool(of.bound) + self.id_of(member, "id = {}", "hashid")
            attribute = f"#[dds({', '.join(attributes)})] " if attributes else ""
            rust = f"Option<{of.rust}>" if member["optional"] else of.rust
            value = f"r.option(|r| {of.value})" if member["optional"] else of.value
            fields.append(f"    {attribute}{member['name']}: {rust},")
            values.append(f"{member['name']}: {value}")
            shows.append(f"self.{member['name']}.show(text);")
        autoid = ', autoid = "hash"' if hash_ids else ""
        body = "\n".join(fields)
        self.rust.append(f"""
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds({', '.join(says)}{autoid})]
struct {name} {{
{body}
}}
impl {name} {{
    fn random(r: &mut Random) -> Self {{ Self {{ {", ".join(values)} }} }}
}}
impl Show for {name} {{
    fn show(&self, text: &mut String) {{ text.push('{{'); {" ".join(shows)} text.push('}}'); }}
}}""")

    @staticmethod
    def id_of(member, by_number, by_hash):
        if member["id"] is not None:
            return [by_number.format(member["id"])]
        return [by_hash] * member["hash_id"]

    def struct_of_python(self, name, base, says, hash_ids, members):
        lines = []
        for member in members:
            python = member["type"].python
            lines.append(f"    {member['name']}: {f'Optional[{python}]' if member['optional'] else python}")
        for member in members:
            of = f'"{member["name"]}"'
            lines += [f"    annotate.{word}({of})" for word in ("key", "must_understand", "external") if member[word]]
            lines += self.id_of(member, f"    annotate.member_id({of}, {{}})", f'    annotate.member_hash_id({of}, "")')
        decorators = "".join(f"@annotate.{word}\n" for word in says) + '@annotate.autoid("hash")\n' * hash_ids
        body = "\n".join(lines)
        self.python.append(f'@dataclass\n{decorators}class {name}({base}, typename="{name}"):\n{body}')

    def topics(self, count):
        topics = []
        while len(topics) < count:
            made, is_keyed = self.structure(self.rng.choice([0, 1, 2, 3]), is_topic=True)
            topics.append((made, is_keyed))
        return topics


def main():
    seed, count, rust_file, python_file = sys.argv[1:]
    generator = Generator(int(seed))
    topics = generator.topics(int(count))

    facts = []
    for made, is_keyed in topics:
        xcdr1 = "Nothing" if made.has_small_enum else "Values" if made.has_parameters else "Bytes"
        test = "keyed" if is_keyed else "keyless"
        is_live = made.is_live and made.is_described
        live = [is_live and not made.has_small_enum and not made.has_open, is_live]
        live = ", ".join(str(is_live).lower() for is_live in live)
        facts.append(f'    run.{test}::<{made.rust}>(Facts {{ name: "{made.rust}", xcdr1: Xcdr1::{xcdr1}, '
                     f"has_final_key: {str(made.is_final).lower()}, is_described: {str(made.is_described and not made.has_alias).lower()}, "
                     f"differs: {str(made.differs).lower()}, goes_by_name: {str(made.goes_by_name).lower()}, is_live: [{live}] }});")
    with open(rust_file, "w", encoding="utf-8") as file:
        file.write(f"// Made by generate.py with seed {seed}.\n\n")
        file.write("\n".join(generator.rust))
        body = "\n".join(facts)
        file.write(f"\n\n/// Runs every type through `run`.\nfn all(run: &mut Run) {{\n{body}\n}}\n")
    with open(python_file, "w", encoding="utf-8") as file:
        file.write(f"# Made by generate.py with seed {seed}.\n")
        file.write("from dataclasses import dataclass\nfrom typing import Dict, List, Optional\n\n")
        file.write("from cyclonedds.idl import IdlBitmask, IdlEnum, IdlStruct, IdlUnion\n")
        file.write("from cyclonedds.idl import annotations as annotate\nfrom cyclonedds.idl import types\n\n")
        file.write("\n\n\n".join(generator.python))
        file.write("\n\n\nSHAPES = {\n")
        file.writelines(f'    "{name}": {shape},\n' for name, shape in generator.shapes.items())
        file.write("}\n\n\nTYPES = {\n")
        file.writelines(f'    "{made.rust}": ({made.rust}, SHAPES["{made.rust}"]),\n' for made, _ in topics)
        file.write("}\n")


if __name__ == "__main__":
    main()
