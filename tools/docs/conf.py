# SPDX-License-Identifier: BSD-2-Clause
"""The site: pages of the tree as they are, and the reference. Run by Sphinx from tools/build-docs, on a copy of the pages."""
import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref

project, author = "Ritz", "the Ritz developers"
copyright = "the Ritz developers, BSD-2-Clause"
extensions = ["myst_parser", "sphinx_design"]
root_doc = "doc/index"
include_patterns = ["*.md", "doc/*.md", "examples/README.md", "examples/meshes/README.md", "python/examples/README.md", "reference/*.rst"]
highlight_language = "none"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
c_id_attributes = ["CEED_RESTRICT"]
suppress_warnings = ["ref.python"]  # annotations say Vector, which ritz and ritz.ceed have: each takes its own
smartquotes_action = "qe"  # "--order" keeps its dashes
html_theme = "furo"
html_title = "Ritz"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

# The sidebar: four ways in. Pages have no word of it, as they are read without a site, too.
CONTENTS = {
    "Using ritz": ["What works today </README>", "gallery", "packages", "questions", "solve", "solvers", "multigrid", "schwarz", "simplices", "/examples/README",
                   "/examples/meshes/README"],
    "Writing a PDE code": ["tutorial", "python", "/python/examples/README", "python-from-others", "fortran", "forms", "derivatives", "mixed", "points",
                           "coarse-problems", "distributed", "gpu", "batched", "dense-solver"],
    "With a libCEED, MFEM or PETSc code": ["ceed-api", "python-ceed", "petsc", "kernels"],
    "Measurements": ["performance", "performance-cpu", "performance-gpu", "performance-solvers", "performance-dense"],
    "Contributing": ["/CONTRIBUTING", "architecture", "performance-history", "/CHANGELOG"],
    "Reference": ["/reference/commands", "/reference/environment", "/reference/resources", "/reference/errors", "/reference/c",
                  "/reference/python"],
}


def add_contents(app, docname, source):
    if docname == root_doc:
        for caption, pages in CONTENTS.items():
            source[0] += "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(pages) + "\n```\n"


# What readers of the tree find by a command or in a header is a page of reference here.
PAGES = {"ritz help": "commands", "ritz help environment": "environment", "ritz help resources": "resources", "CeedErrorType": "errors"}
VARIABLES = re.findall(r"^VARIABLE\(\w+, (\w+)", (Path(__file__).parents[2] / "base/variables.h").read_text(), re.M)


# Folders and files of the tree that are no pages.
def drop_links_to_folders(app, docname, source):
    folder = (app.srcdir / docname).parent
    def replaced(match):
        return match[1] if (folder / match[2]).is_dir() else match[0]
    source[0] = re.sub(r"\[([^\]]*)\]\(([^)#:]+)\)", replaced, source[0])


# A block in C and behind it the same in Python are tabs; a choice holds for all of them.
def make_tabs(app, docname, source):
    block = r"^(?:<!-- part of: .*? -->\n)?(```%s\n.*?^```\n)"
    tab = ":::{tab-item} %s\n:sync: %s\n\\%d:::\n"
    both = "::::{tab-set}\n" + tab % ("C", "c", 1) + tab % ("Python", "python", 2) + "::::\n"
    source[0] = re.sub(block % "c" + r"\n" + block % "python", both, source[0], flags=re.S | re.M)


def header_page(text):
    return "reference/" + text.removesuffix(".h").replace("/", "-")


# `CeedOperatorApply`, `ritz/mesh.h` and `RITZ_DUMP=FOLDER` in pages lead to the reference; short words in code, such as `--order`, are not broken.
def link_names(app, doctree):
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if " " not in text and len(text) <= 32:
            literal["classes"].append("word")
        if isinstance(literal.parent, (nodes.reference, pending_xref)) or literal.parent.tagname == "title":
            continue
        if text in PAGES and app.env.docname != "reference/" + PAGES[text]:
            link = pending_xref("", refdomain="std", reftype="doc", reftarget="/reference/" + PAGES[text], refexplicit=True)
        elif text.partition("=")[0] in VARIABLES and app.env.docname != "reference/environment":
            link = pending_xref("", refdomain="std", reftype="envvar", reftarget=text.partition("=")[0])
        elif re.fullmatch(r"(ceed|ritz)/[a-z0-9-]+\.h", text) and header_page(text) in app.env.found_docs:
            link = pending_xref("", refdomain="std", reftype="doc", reftarget="/" + header_page(text), refexplicit=True)
        elif match := re.fullmatch(r"((?:Ceed|Ritz)\w+|(?:CEED|RITZ)_\w+)(?:\(.*\))?", text):
            link = pending_xref("", refdomain="c", reftype="identifier", reftarget=match[1])
        else:
            continue
        link["refdoc"] = app.env.docname
        literal.replace_self(link)
        link += literal


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("source-read", drop_links_to_folders)
    app.connect("source-read", make_tabs)
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
