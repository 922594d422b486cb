#!/usr/bin/env python3
"""Writes the reference as Markdown, a page for each public header, from what Doxygen has read of the headers.

usage: reference.py SOURCE XML FOLDER

Sphinx's own domain of C++ stops at some of the constraints of templates (Sphinx 5.3 with Breathe 4.34), so declarations
are plain code here.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

WIDE = 100  # columns, from which on each parameter has a line of its own
HEADINGS = {"param": "Parameters", "tparam": "Template parameters", "templateparam": "Template parameters",
            "exception": "Errors", "retval": "Values", "return": "Returns", "pre": "Before", "post": "After", "see": "See",
            "note": "Note", "warning": "Warning"}


def plain(element):
    """The text of an element and all below it, on one line."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def escaped(text):
    return re.sub(r"([\\*_\[\]<>|])", r"\\\1", re.sub(r"\s+", " ", text or ""))


def inline(element):
    """A paragraph's words as Markdown, and the blocks that stand within it."""
    text, blocks = escaped(element.text), []
    for child in element:
        if child.tag == "computeroutput":
            text += f"`{plain(child)}`"
        elif child.tag == "ulink":
            text += f"[{escaped(plain(child))}]({child.get('url')})"
        elif child.tag == "ref":
            text += f"`{plain(child)}`"
        elif child.tag in ("verbatim", "preformatted"):
            blocks.append("```text\n" + "".join(child.itertext()).strip("\n") + "\n```")
        elif child.tag == "parameterlist":
            blocks.append(parameters(child))
        elif child.tag == "simplesect":
            blocks.append(f"**{HEADINGS.get(child.get('kind'), child.get('kind'))}:** " + description(child))
        elif child.tag in ("itemizedlist", "orderedlist"):
            blocks.append("\n".join("- " + description(item).replace("\n", "\n  ") for item in child))
        elif child.tag == "sp":
            text += " "
        else:
            words, inner = inline(child)
            text, blocks = text + words, blocks + inner
        text += escaped(child.tail)
    return text, blocks


def parameters(element):
    lines = [f"**{HEADINGS[element.get('kind')]}:**", ""]
    for item in element.findall("parameteritem"):
        names = ", ".join(f"`{plain(name)}`" for name in item.iter("parametername"))
        lines.append(f"- {names}: " + description(item.find("parameterdescription")).replace("\n", "\n  "))
    return "\n".join(lines)


def description(element):
    """All paragraphs of an element as Markdown."""
    if element is None:
        return ""
    parts = []
    for paragraph in element.findall("para"):
        words, blocks = inline(paragraph)
        parts += [words.strip()] + blocks
    return "\n\n".join(part for part in parts if part)


def described(definition):
    parts = [description(definition.find(name)) for name in ("briefdescription", "detaileddescription")]
    return "\n\n".join(part for part in parts if part)


def template_of(definition):
    found = definition.find("templateparamlist")
    if found is None:
        return ""
    names = []
    for parameter in found:
        words = [plain(parameter.find("type")), plain(parameter.find("declname"))]
        default = plain(parameter.find("defval"))
        names.append(" ".join(word for word in words if word) + (f" = {default}" if default else ""))
    text = f"template <{', '.join(names)}>\n"
    requires = definition.find("requiresclause")
    return text + (f"  requires {plain(requires)}\n" if requires is not None else "")


def is_detail(text):
    return "detail::" in text


def declaration(member):
    """The declaration as code; parameters have a line each where one line is too long."""
    kind, name = member.get("kind"), member.findtext("name")
    type_ = plain(member.find("type"))
    if kind == "typedef":
        return template_of(member) + (f"using {name} = {type_};" if not type_.startswith("using") else f"{type_} {name};")
    if kind == "enum":
        values = [value.findtext("name") for value in member.findall("enumvalue")]
        return f"enum class {name} {{ {', '.join(values)} }};"
    if kind == "variable":
        return template_of(member) + f"{type_} {name};"
    before = "".join(word + " " for word in ("static", "explicit") if member.get(word) == "yes")
    # Doxygen puts a requires-clause behind the parameters into their text.
    arguments = plain(member.find("argsstring"))
    line = f"{before}{type_} {name}".replace("inline ", "").strip() + arguments + ";"
    if len(line) > WIDE and member.findall("param"):
        given = []
        for parameter in member.findall("param"):
            default = plain(parameter.find("defval"))
            text = f"{plain(parameter.find('type'))} {plain(parameter.find('declname'))}".strip()
            given.append("    " + text + (f" = {default}" if default else ""))
        tail = arguments[arguments.rfind(")"):] if arguments.rfind(")") > 0 else ")"
        line = line[:line.index("(", len(before + type_))] + "(\n" + ",\n".join(given) + tail + ";"
    return template_of(member) + line


def code(text):
    """Code in the spacing of the headers, which Doxygen widens."""
    text = text.replace("< ", "<").replace(" >", ">")
    return "```cpp\n" + re.sub(r" ([&*]+) ?(?=\w|\.\.\.)", r"\1 ", text).replace(" &&)", "&&)") + "\n```"


def entry(level, name, members):
    """Overloads of one name: each declaration, followed by what is said of it."""
    parts = [f"{'#' * level} {escaped(name)}"]
    for member in members:
        parts.append(code(declaration(member)))
        if words := described(member):
            parts.append(words)
        if member.get("kind") == "enum":
            parts += [f"- `{value.findtext('name')}`: {described(value)}" for value in member.findall("enumvalue")
                      if described(value)]
    return "\n\n".join(parts)


def by_name(members):
    groups = collections.defaultdict(list)
    for member in members:
        groups[member.findtext("name")].append(member)
    return groups


def entry_of_class(compound):
    name = compound.findtext("compoundname").removeprefix("coir::")
    kind = compound.get("kind")
    parts = [f"### {escaped(name)}"]
    if kind == "concept":
        parts.append(code("".join(compound.find("initializer").itertext()).strip().replace("coir::" + name, name) + ";"))
    else:
        parts.append(code(template_of(compound) + f"{kind} {name};"))
    parts.append(described(compound))
    public = [member for member in compound.iter("memberdef") if member.get("prot") == "public" and member.get("kind") != "friend"
              and not is_detail(plain(member.find("type")))]
    data = [member for member in public if member.get("kind") == "variable" and member.get("static") == "no"]
    parts.append("\n".join(f"- `{declaration(member)[:-1]}`" + (": " + described(member).replace("\n", "\n  ") if described(member) else "")
                           for member in data))
    for member_name, members in by_name(member for member in public if member not in data).items():
        if "~" not in member_name:
            parts.append(entry(4, member_name, members))
    return "\n\n".join(part for part in parts if part)


def read(folder):
    """Members of namespaces, and classes and concepts, by the header they stand in."""
    members, classes = collections.defaultdict(list), collections.defaultdict(list)
    for path in sorted(folder.glob("*.xml")):
        for compound in ElementTree.parse(path).getroot().findall("compounddef"):
            if compound.get("kind") == "namespace":
                for member in compound.iter("memberdef"):
                    members[header_of(member)].append(member)
            elif compound.get("kind") in ("struct", "class", "concept"):
                # A specialisation says nothing that its template doesn't.
                if "<" not in compound.findtext("compoundname"):
                    classes[header_of(compound)].append(compound)
    return members, classes


def header_of(definition):
    return re.sub(r"^.*include/", "", definition.find("location").get("file"))


def line_of(definition):
    return int(definition.find("location").get("line"))


def purpose(header):
    """What a header's comment says of the file."""
    found = re.search(r"^/// \\file\n((?:///.*\n)+)", header.read_text(encoding="utf-8"), re.MULTILINE)
    return "\n".join(line.removeprefix("///").strip() for line in found[1].splitlines()) if found else ""


def page(header, path, members, classes):
    parts = [f"# {header.name}", code(f"#include <{path}>"), purpose(header)]
    if classes:
        parts.append("## Types")
        parts += [entry_of_class(compound) for compound in sorted(classes, key=line_of)]
    others = [member for member in members if member.get("kind") in ("typedef", "enum", "variable")]
    for title, some in (("## Names", others), ("## Functions", [m for m in members if m.get("kind") == "function"])):
        if some:
            parts.append(title)
            parts += [entry(3, name, group) for name, group in by_name(sorted(some, key=line_of)).items()]
    return "\n\n".join(part for part in parts if part) + "\n"


def main(source, xml, folder):
    architecture = (source / "docs/architecture.md").read_text(encoding="utf-8")
    purposes = dict(re.findall(r"^\| (\w+) \| (.+) \|$", architecture, re.MULTILINE))
    members, classes = read(xml)
    for module in sorted(path for path in (source / "include/coir").iterdir() if path.is_dir()):
        pages = folder / module.name
        pages.mkdir(parents=True)
        text = [f"# coir::{module.name}", purposes[module.name][0].upper() + purposes[module.name][1:] + "."]
        names = []
        for header in sorted(module.glob("*.hpp")):
            path = header.relative_to(source / "include").as_posix()
            (pages / f"{header.stem}.md").write_text(page(header, path, members[path], classes[path]), encoding="utf-8")
            names.append(f"{module.name}/{header.stem}")
        text.append("```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```")
        (folder / f"{module.name}.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
