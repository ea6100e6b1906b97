# SPDX-License-Identifier: BSD-2-Clause
"""Writes the pages of reference of the site: one for each public header, one for each module of the Python package.

Called by tools/build-docs, in the top folder: `reference.py FOLDER` writes FOLDER/*.rst, `reference.py --names` lists what has an
entry, "header name", and names on stderr what has no text (exit status 1). Headers and modules are read as texts: nothing is
compiled, nothing is imported. In a header, a comment belongs to the declarations that follow it up to the next blank line or
comment; a comment before a blank line, and one after a heading (`// ---- Words ----`), is text of its own.
"""
from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

INCLUDE, PACKAGE = Path("include"), Path("python/ritz")
# Modules of the Python package that users import, and those of which the package has names.
MODULES = ("adjoint", "interop", "jax", "petsc", "torch", "ufl")


# What functions of these names do, of all objects: the rules of ceed/ceed.h.
FAMILIES = {
    "ReferenceCopy": "Releases what the second argument held (NULL or a live handle) and makes it another reference to the object.",
    "Destroy": "Drops a reference, frees the object with the last one, and sets the handle to NULL. NULL does nothing.",
    "SetNumViewTabs": "Lines of views are indented by two blanks a tab, at first 0. CEED_ERROR_MINOR: num_tabs < 0.",
    "GetNumViewTabs": "By how many tabs, of two blanks, lines of views are indented.",
    "GetCeed": "The context of the object: a new reference, to be destroyed.",
    "ReturnCeed": "The context of the object, borrowed: not to be destroyed.",
}


def family_text(name: str) -> list[str]:
    return [text for ending, text in FAMILIES.items() if name.endswith(ending)]


# ---- Headers to items ----


@dataclass
class Declaration:
    kind: str  # function, macro, type, struct, enum, var: directives of Sphinx's C domain
    name: str  # "" of an enum without one
    text: str  # as it stands in the header
    note: str = ""  # the comment behind it


@dataclass
class Item:
    """A heading, a text, or declarations under one comment."""

    comment: list[str] = field(default_factory=list)
    heading: str = ""
    declarations: list[Declaration] = field(default_factory=list)

    def is_told(self, declaration: Declaration) -> bool:
        return bool(declaration.note or family_text(declaration.name) or "".join(self.comment).strip())


def uncommented(text: str) -> str:
    return re.sub(r"//.*|/\*.*?\*/", "", text)


def is_complete(text: str) -> bool:
    code = uncommented(re.sub(r'"(\\.|[^"\\])*"', '""', text)).strip()
    return code.count("{") == code.count("}") and code.count("(") == code.count(")") and code[-1:] in (";", "}")


def declaration_of(text: str) -> Declaration | None:
    lines = text.splitlines()
    note = re.search(r"// ?(.*)$", lines[-1]) if len(lines) == 1 or lines[-1].startswith("}") else None
    code = " ".join(uncommented(text).split())
    code = re.sub(r'^CEED_DEPRECATED\(".*?"\) ', "", code)
    if re.fullmatch(r"typedef struct (\w+) \1;", code):
        return None
    if match := re.match(r"(?:typedef )?(struct|enum|union)(?: \w+)? ?\{.*\} ?(\w*);$", code):
        name = match[2] or (re.match(r"struct (\w+)", code) or ["", ""])[1]
        return Declaration("enum" if match[1] == "enum" else "struct", name, text, note[1] if note else "")
    if match := re.match(r"typedef .*?(?:\(\*(\w+)\)\(.*|(\w+));$", code):
        return Declaration("type", match[1] or match[2], text, note[1] if note else "")
    if match := re.match(r"(?:CEED_EXTERN|static inline) (.*?(\w+) ?\(.*?\)) ?[;{]", code):
        return Declaration("function", match[2], match[1], note[1] if note else "")
    if match := re.match(r"CEED_EXTERN (.*?(\w+)(?:\[\w*\])?);$", code):
        return Declaration("var", match[2], match[1], note[1] if note else "")
    return None


def macro_of(line: str, header: str, seen: set[str]) -> Declaration | None:
    """Of one that is defined in several ways, by conditions, the name alone."""
    match = re.match(r"# ?define ((?:CEED|Ceed|RITZ|Ritz)\w*)(\([^)]*\))?(.*)", line)
    if not match or match[1].endswith("_H") or match[1] in seen:
        return None
    seen.add(match[1])
    note = re.search(r"// ?(.*)$", match[3])
    is_one = len(re.findall(rf"# ?define {match[1]}\b", header)) == 1
    text = uncommented(line).strip() if is_one else f"#define {match[1]}{match[2] or ''}"
    return Declaration("macro", match[1], text, note[1] if note else "")


def items_of(header: Path) -> list[Item]:
    """The header's own text first."""
    whole = re.sub(r"\\\n", "", header.read_text())
    lines = iter(whole.splitlines())
    items, comment, group, seen = [Item()], list[str](), None, set[str]()
    is_opening = True

    def flush() -> None:
        nonlocal comment, is_opening
        if is_opening:
            items[0].comment, is_opening = comment, False
        elif comment:
            items.append(Item(comment))
        comment = []

    def add(declaration: Declaration | None) -> None:
        nonlocal comment, group
        if declaration is None:
            comment = []
            return
        if comment or group is None:
            group = Item(comment)
            items.append(group)
            comment = []
        group.declarations.append(declaration)

    for line in lines:
        if re.match(r"// (SPDX|clang-format)|/\*.*\*/$", line):
            continue
        if heading := re.match(r"// -{4} (.*?)(?: -+)?$", line):
            flush()
            items.append(Item(heading=heading[1]))
            group = None
        elif line.startswith("//"):
            if not comment:
                group = None
            comment.append(line[2:].removeprefix(" "))
        elif not line.strip():
            flush()
            group = None
        elif line.startswith("#"):
            if is_opening:
                flush()
            if macro := macro_of(line, whole, seen):
                add(macro)
        else:
            text = line
            while not is_complete(text):
                text += "\n" + next(lines)
            add(declaration_of(text))
    flush()
    return items


def headers() -> list[Path]:
    return sorted(path for path in INCLUDE.rglob("*.h") if "jit-source" not in path.parts)


# ---- Text to reStructuredText ----


class Writer:
    """Paragraphs become paragraphs, what is indented or set in columns stays as it is; known names become links."""

    def __init__(self, roles: dict[str, str]):
        self.roles = roles

    def inline(self, text: str) -> str:
        parts = re.split(r"(`[^`]+`|\b(?:ceed|ritz)/[a-z0-9-]+\.h\b|\bdoc/[a-z-]+\.md\b|\b\w+\b)", text)
        return "".join(self.word(part) if i % 2 else re.sub(r"([\\*`|_])", r"\\\1", part) for i, part in enumerate(parts))

    def word(self, word: str) -> str:
        if word.startswith("`"):
            inner = word.strip("`")
            return rf"\ :c:{self.roles[inner]}:`{inner}`\ " if inner in self.roles else rf"\ ``{inner}``\ "
        if word.endswith(".h"):
            return rf"\ :doc:`{word} <{page_of(word)}>`\ " if (INCLUDE / word).exists() else word
        if word.endswith(".md"):
            return rf"\ :doc:`/{word[:-3]}`\ "
        return rf"\ :c:{self.roles[word]}:`{word}`\ " if word in self.roles and word != "Ceed" else word.replace("_", r"\_")

    def paragraph(self, lines: list[str]) -> list[str]:
        text = " ".join(lines)
        if match := re.match(r"\*([A-Z][\w. ]*\S)\*( .*)", text):  # *Errors.* Text
            return [f"**{match[1]}**" + self.inline(match[2])]
        return [self.inline(text)]

    def text(self, lines: list[str]) -> list[str]:
        result, i = list[str](), 0
        while i < len(lines):
            j = i
            if not lines[i].strip():
                i += 1
                continue
            if is_set(lines[i]):
                while j < len(lines) and (is_set(lines[j]) or not lines[j].strip()):
                    j += 1
                block = lines[i:j]
                while not block[-1].strip():
                    block.pop()
                indent = min(len(line) - len(line.lstrip()) for line in block if line.strip())
                result += ["::", "", *("   " + line[indent:] for line in block), ""]
            else:
                while j < len(lines) and lines[j].strip() and not is_set(lines[j]):
                    j += 1
                result += [*self.paragraph(lines[i:j]), ""]
            i = j
        return result


def is_set(line: str) -> bool:
    """Whether blanks in the line mean something."""
    return line.startswith("  ") or bool(re.search(r"\S {3,}\S", line))


def indented(lines: list[str]) -> list[str]:
    return ["   " + line if line else "" for line in lines]


def title(text: str, under: str) -> list[str]:
    escaped = re.sub(r"([\\*`|_])", r"\\\1", text)
    return [escaped, under * len(escaped), ""]


def page_of(header: str) -> str:
    return "/reference/" + header.removesuffix(".h").replace("/", "-")


# ---- Items to pages ----


def enumerators(declaration: Declaration) -> list[tuple[str, str, list[str]]]:
    """Name, value ("= 1") and comment of each of an enum: what stands behind it and in lines below, or before it."""
    result, before, text = list[tuple[str, str, list[str]]](), list[str](), declaration.text
    if declaration.kind != "enum":
        return []
    for line in text[text.index("{") + 1 : text.rindex("}")].splitlines():
        code, _, remark = line.partition("//")
        its = re.findall(r"(\w+) *(= *[^,]*[^, ])?(?:,|$)", code.strip())
        if its:
            notes = [*before, remark.strip()] if remark else before
            result += [(name, value, []) for name, value in its[:-1]] + [(*its[-1], notes)]
            before = []
        elif remark and result and line.index("//") > 2:
            result[-1][2].append(remark.strip())
        elif remark:
            before.append(remark.strip())
    return result


def signature(declaration: Declaration) -> str:
    if declaration.kind in ("function", "var"):
        return declaration.text
    if declaration.kind == "macro":
        return re.match(r"# ?define (\w+(?:\([^)]*\))?)", declaration.text)[1]
    if declaration.kind == "type":
        return " ".join(uncommented(declaration.text).split()).removeprefix("typedef ").rstrip(";")
    return declaration.name


def body(declaration: Declaration, writer: Writer) -> list[str]:
    lines = [line for text in (declaration.note, *family_text(declaration.name)) for line in writer.text([text])]
    if declaration.kind == "struct":
        lines += [".. code-block:: c", "", *indented(declaration.text.splitlines()), ""]
    if declaration.kind == "macro" and (value := declaration.text.partition(signature(declaration))[2].strip()):
        lines += [".. code-block:: c", "", *indented([declaration.text]), ""] if len(value) < 100 else []
    for name, value, notes in enumerators(declaration):
        lines += [f".. c:enumerator:: {name} {value}".rstrip(), "", *indented(writer.text([" ".join(notes)] if notes else []))]
    return lines


def is_plain(declaration: Declaration) -> bool:
    return declaration.kind in ("function", "var") and not declaration.note and not family_text(declaration.name)


def entries(item: Item, writer: Writer, seen: set[str]) -> list[str]:
    """Declarations under a comment: functions that follow each other are one entry with many names, a comment on several entries
    stands above them. What another header declares, too, is text alone."""
    result, comment = list[str](), writer.text(item.comment)
    runs = list[list[Declaration]]()
    for declaration in item.declarations:
        if runs and is_plain(declaration) and is_plain(runs[-1][-1]) and runs[-1][-1].kind == declaration.kind:
            runs[-1].append(declaration)
        else:
            runs.append([declaration])
    if sum(not family_text(run[0].name) for run in runs) > 1:
        result, comment = comment, []
    for run in runs:
        first = run[0]
        if not first.name:
            result += comment + body(first, writer)
        elif first.name in seen:
            result += comment + [".. code-block:: c", "", *indented(first.text.splitlines()), ""]
        else:
            result += [f".. c:{first.kind}:: " + ("\n" + " " * (8 + len(first.kind))).join(map(signature, run)), ""]
            result += indented(comment + body(first, writer))
        comment = []
    return result


def header_page(header: str, items: list[Item], writer: Writer, seen: set[str]) -> str:
    lines = [*title(header, "="), ".. code-block:: c", "", f"   #include <{header}>", "", *writer.text(items[0].comment)]
    for item in items[1:]:
        names = {declaration.name for declaration in item.declarations if declaration.name}
        if item.heading:
            lines += title(item.heading[0].upper() + item.heading[1:], "-")
        elif item.declarations:
            lines += entries(item, writer, seen)
        else:
            lines += writer.text(item.comment)
        seen |= names
    return "\n".join(lines) + "\n"


# ---- The Python package ----


def is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__call__", "__matmul__")


def docstring(node: ast.AST, writer: Writer) -> list[str]:
    return writer.text((ast.get_docstring(node) or "").splitlines())


def call_of(node: ast.FunctionDef, is_method: bool) -> str:
    arguments = ast.unparse(node.args)
    if is_method and not any(ast.unparse(d) == "staticmethod" for d in node.decorator_list):
        arguments = re.sub(r"^\w+(: \w+)?(, )?", "", arguments)
    return f"{node.name}({arguments})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def function_entry(node: ast.FunctionDef, writer: Writer, is_method: bool = False) -> list[str]:
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if any(decorator.endswith((".setter", "overload")) for decorator in decorators):
        return []
    if any(decorator.endswith("property") for decorator in decorators):
        typed = [f"   :type: {ast.unparse(node.returns)}"] if node.returns else []
        return [f".. py:property:: {node.name}", *typed, "", *indented(docstring(node, writer))]
    kind = "method" if is_method else "function"
    options = [f"   :{decorator}:" for decorator in decorators if decorator in ("staticmethod", "classmethod")]
    return [f".. py:{kind}:: {call_of(node, is_method)}", *options, "", *indented(docstring(node, writer))]


def class_entry(node: ast.ClassDef, writer: Writer) -> list[str]:
    methods = [child for child in node.body if isinstance(child, ast.FunctionDef)]
    start = next((child for child in methods if child.name == "__init__"), None)
    arguments = re.sub(r" -> None$", "", call_of(start, True)).removeprefix("__init__") if start else ""
    lines = docstring(node, writer) + (docstring(start, writer) if start else [])
    for child in methods:
        if is_public(child.name):
            lines += function_entry(child, writer, is_method=True)
    return [f".. py:class:: {node.name}{arguments}", "", *indented(lines)]


def module_entries(path: Path, names: tuple[str, ...] | None, writer: Writer) -> list[str]:
    """Classes and functions of a module: all public ones, or those of the list."""
    lines = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (node.name in names if names else is_public(node.name)):
            lines += class_entry(node, writer) if isinstance(node, ast.ClassDef) else function_entry(node, writer)
    return lines


def python_page(name: str, path: Path, sections: list[tuple[Path, tuple[str, ...] | None]], writer: Writer) -> str:
    """A module, or a package with a section for each of its modules."""
    lines = [*title(name, "="), *docstring(ast.parse(path.read_text()), writer), f".. py:module:: {name}", ""]
    for part, names in sections:
        its = module_entries(part, names, writer)
        if its and part != path:
            tree = ast.parse(part.read_text())
            lines += [*title(re.match(r"[^:,;.]+", ast.get_docstring(tree))[0], "-"), *docstring(tree, writer)]
        lines += its
    return "\n".join(lines) + "\n"


def names_of_package() -> list[tuple[Path, tuple[str, ...]]]:
    """What `from ritz import *` brings, by the files that have it."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    table = next(ast.literal_eval(node.value) for node in tree.body
                 if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES")
    files = [(PACKAGE / f"{module}.py", names) for module, names in table.items()]
    return [(part, names) for path, names in files
            for part in ([path] if path.exists() else sorted(path.with_suffix("").glob("[a-z]*.py")))]


def write_python(folder: Path, writer: Writer) -> dict[str, str]:
    """Returns pages and first sentences."""
    pages = {"ritz": (PACKAGE / "__init__.py", names_of_package())}
    pages |= {f"ritz.{name}": (PACKAGE / f"{name}.py", [(PACKAGE / f"{name}.py", None)]) for name in MODULES}
    pages["ritz.ceed"] = (PACKAGE / "ceed/__init__.py", [(path, None) for path in sorted((PACKAGE / "ceed").glob("[a-z]*.py"))])
    for name, (path, sections) in pages.items():
        write(folder / f"python-{name}.rst", python_page(name, path, sections, writer))
    return {f"/reference/python-{name}": first_sentence((ast.get_docstring(ast.parse(path.read_text())) or "").splitlines())
            for name, (path, _) in pages.items()}


# ---- All of it ----


def first_sentence(lines: list[str]) -> str:
    paragraph = " ".join("\n".join(lines).strip().split("\n\n")[0].split())
    return re.split(r"(?<=[^.][.])\s(?=[A-Z])|:$", paragraph)[0]


def index_page(heading: str, text: str, pages: dict[str, str], writer: Writer) -> str:
    entries = [f"* :doc:`{page}`: {writer.inline(sentence)}" for page, sentence in pages.items()]
    return "\n".join([*title(heading, "="), text, "", ".. toctree::", "   :hidden:", "", *indented(list(pages)), "", *entries]) + "\n"


def write(path: Path, text: str) -> None:
    """Only what has changed: Sphinx reads no more than that anew."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def roles_of(parsed: dict[str, list[Item]]) -> dict[str, str]:
    """Of each name of the headers, the role of Sphinx that links it."""
    role = {"function": "func", "macro": "macro", "type": "type", "struct": "struct", "enum": "enum", "var": "var"}
    declarations = [d for items in parsed.values() for item in items for d in item.declarations]
    roles = {declaration.name: role[declaration.kind] for declaration in declarations if declaration.name}
    roles |= {name: "enumerator" for declaration in declarations
              for name, *_ in enumerators(declaration)}
    return roles


def parse_headers() -> dict[str, list[Item]]:
    return {str(path.relative_to(INCLUDE)): items_of(path) for path in headers()}


def write_pages(folder: Path) -> None:
    parsed = parse_headers()
    writer, seen = Writer(roles_of(parsed)), set[str]()
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("ritz-*.rst"):
        if not (INCLUDE / "ritz" / path.name[5:]).with_suffix(".h").exists():
            path.unlink()
    for header, items in reversed(parsed.items()):  # ceed-f64.h before ceed-f32.h
        write(folder / (page_of(header).rpartition("/")[2] + ".rst"), header_page(header, items, writer, seen))
    ours_first = sorted(parsed, key=lambda header: (not header.startswith("ritz"), header))
    pages = {page_of(header): first_sentence(parsed[header][0].comment) for header in ours_first}
    write(folder / "c.rst", index_page("C: the public headers", "What ``ritz.h`` and ``ceed.h`` declare, and headers beside them.", pages, writer))
    write(folder / "python.rst", index_page("Python: the package", "Classes and functions of the package, by module.",
                                            write_python(folder, Writer({})), Writer({})))


def list_names() -> int:
    missing = 0
    for path in headers():
        for item in items_of(path):
            for declaration in item.declarations:
                header = path.relative_to(INCLUDE)
                for name in filter(None, [declaration.name, *(name for name, *_ in enumerators(declaration))]):
                    print(header, name)
                if declaration.kind in ("function", "var") and not item.is_told(declaration):
                    print(f"reference: include/{header}: {declaration.name} has no text", file=sys.stderr)
                    missing = 1
    return missing


if __name__ == "__main__":
    if sys.argv[1] == "--names":
        sys.exit(list_names())
    write_pages(Path(sys.argv[1]))
