#!/usr/bin/env python3
"""Makes the corpus that documents-corpus.test.ts reads: files by real programs, and the texts they were made of.

Run by hand when the corpus is to change, never by CI: ./make.py [folder for files that programs write on the way]
Needs Debian's libreoffice-writer, -calc and -impress, pandoc, poppler-utils, ghostscript, qpdf, groff, abiword, chromium, weasyprint,
python3-docx, -openpyxl, -xlsxwriter, -reportlab, -odf and -ebooklib, fonts-dejavu, fonts-noto-core and fonts-noto-cjk.
"""

import csv, datetime, email.message, email.policy, html, io, json, os, pathlib, shutil, subprocess, sys, tempfile
sys.dont_write_bytecode = True
from sources import DOCUMENTS, PLAIN, SHEETS, SLIDES

here = pathlib.Path(__file__).parent
files, texts = here / "files", here / "texts"
work = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
largest = 54_000
manifest = []
# What is read less well than the rest, and why.
limits = {
    "writer-he.pdf": {"least": 0.97, "why": "LibreOffice draws the punctuation of Hebrew lines behind their words"},
    "chromium-ar.pdf": {"least": 0.985, "why": "Chromium's table of characters gives the joined lam-alef in either order"},
}


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, **options)


def keep(path, program, text, name=None):
    """Takes a made file into the corpus, together with the text it was made of."""
    name = name or pathlib.Path(path).name
    content = path if isinstance(path, bytes) else pathlib.Path(path).read_bytes()
    if len(content) > largest:
        print(f"left out, {len(content)} bytes: {name}")
        return
    (files / name).write_bytes(content)
    known = next((found for found in texts.iterdir() if found.read_text("utf-8") == text + "\n"), None)
    if known is None:
        known = texts / f"{name}.txt"
        known.write_text(text + "\n", "utf-8")
    manifest.append({"file": name, "program": program, "text": known.name, **limits.get(name, {})})


def lines(document, note="end", before="", after=""):
    """The document as text. `note` says where the programs put the footnote: at the end, or behind its paragraph."""
    first, *rest = document["paragraphs"]
    out = [before, document["title"], first, document["note"] if note == "behind" else "", *rest, document["heading"], *document["list"]]
    out += ["\t".join(row) for row in document["table"]]
    out += [document["closing"], document["note"] if note == "end" else "", after]
    return "\n".join(line for line in out if line)


def sheet_lines(sheets):
    def cell(value, column, rows):
        if rows[0][column:column + 1] == ["Share"] and not isinstance(value, str):
            return f"{value * 100:g} %"
        return str(value)
    return "\n".join("\t".join(cell(value, at, rows) for at, value in enumerate(row)) for _, rows in sheets for row in rows if row)


def separated(rows, separator, share=str):
    """As CSV, which stays as it is. Numbers beside "Share" are shown as the program does."""
    out = io.StringIO()
    is_share = lambda value, at: rows[0][at] == "Share" and not isinstance(value, str)
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows([share(value) if is_share(value, at) else value for at, value in enumerate(row)] for row in rows)
    return out.getvalue().strip()


def slide_lines(slides, notes=True):
    return "\n".join("\n".join([title, *points] + ([f"Notes:\n{note}"] if note and notes else [])) for title, points, note in slides)


right_to_left = {"ar", "he"}
wide_font = {"ja": "Noto Sans CJK JP", "zh": "Noto Sans CJK SC", "ko": "Noto Sans CJK KR"}
font_of = lambda language: wide_font.get(language, "Noto Naskh Arabic" if language == "ar" else "Noto Serif Hebrew" if language == "he" else "DejaVu Serif")
spaces = " ".join(f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}"' for short, name in [("office", "office:1.0"), ("style", "style:1.0"), ("text", "text:1.0"), ("table", "table:1.0"), ("draw", "drawing:1.0"), ("fo", "xsl-fo-compatible:1.0"), ("svg", "svg-compatible:1.0"), ("presentation", "presentation:1.0"), ("number", "datastyle:1.0")])
flat = lambda kind, styles, body: f'<?xml version="1.0" encoding="UTF-8"?><office:document {spaces} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.{kind}">{styles}<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document>'
esc = html.escape


def convert(sources, *targets):
    """All sources in one run for each target: LibreOffice takes seconds to start. What is there already is used again."""
    made = []
    for target in targets:
        kind = target.split(":")[0]
        folder = work / "out" / "".join(sign if sign.isalnum() else "-" for sign in target)
        missing = [source for source in sources if not list(folder.glob(f"{source.stem}*"))]
        if missing:
            run("soffice", f"-env:UserInstallation=file://{work}/profile", "--headless", "--convert-to", target, "--outdir", folder, *missing)
        for source in sources:
            [found] = [path for path in folder.iterdir() if path.suffix == f".{kind}" and path.stem.startswith(source.stem)]
            made.append((source.stem, found))
    return made


def flat_text(language, document, columns=1, header="", footer=""):
    font, mode = font_of(language), "rl-tb" if language in right_to_left else "lr-tb"
    faces = f'style:font-name="F" style:font-name-asian="F" style:font-name-complex="F" fo:font-size="11pt" style:font-size-complex="11pt"'
    frame = lambda kind, text: f"<style:{kind}><text:p>{esc(text)}</text:p></style:{kind}>" if text else ""
    styles = f"""<office:font-face-decls><style:font-face style:name="F" svg:font-family="'{font}'"/></office:font-face-decls>
<office:styles><style:default-style style:family="paragraph"><style:paragraph-properties style:writing-mode="{mode}"/><style:text-properties {faces}/></style:default-style></office:styles>
<office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" fo:margin="2cm" style:writing-mode="{mode}"/>
<style:header-style/><style:footer-style/></style:page-layout>
<style:style style:name="C" style:family="section"><style:section-properties><style:columns fo:column-count="{columns}" fo:column-gap="1cm"/></style:section-properties></style:style></office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L">{frame("header", header)}{frame("footer", footer)}</style:master-page></office:master-styles>"""
    first, *rest = [f"<text:p>{esc(text)}" for text in document["paragraphs"]]
    note = f'<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>{esc(document["note"])}</text:p></text:note-body></text:note>'
    cells = lambda row: "".join(f'<table:table-cell office:value-type="string"><text:p>{esc(cell)}</text:p></table:table-cell>' for cell in row)
    table = "".join(f"<table:table-row>{cells(row)}</table:table-row>" for row in document["table"])
    body = f'<text:h text:outline-level="1">{esc(document["title"])}</text:h>{first}{note}</text:p>' + "".join(f"{text}</text:p>" for text in rest)
    body += f'<text:h text:outline-level="2">{esc(document["heading"])}</text:h><text:list>' + "".join(f"<text:list-item><text:p>{esc(item)}</text:p></text:list-item>" for item in document["list"]) + "</text:list>"
    body += f'<table:table table:name="T"><table:table-column table:number-columns-repeated="{len(document["table"][0])}"/>{table}</table:table><text:p>{esc(document["closing"])}</text:p>'
    return flat("text", styles, f'<text:section text:name="S" text:style-name="C">{body}</text:section>' if columns > 1 else body)


def writer():
    frame = {"header": "Parish of Upper Marlow, 12 May", "footer": "Printed on our own paper"}
    said, sources = {}, []
    def write(name, page, document, *around):
        said[name] = (document, *around)
        sources.append(work / f"{name}.fodt")
        sources[-1].write_text(page, "utf-8")
    for language, document in DOCUMENTS.items():
        write(f"writer-{language}", flat_text(language, document), document)
    for language in ("en",):
        long = {**DOCUMENTS[language], "paragraphs": DOCUMENTS[language]["paragraphs"] * 4}
        write(f"columns-{language}", flat_text(language, long, 2, **frame), long, *frame.values())
    some = [source for source in sources if source.stem[-2:] in ("en", "de", "ru", "ja") and source.stem.startswith("writer")]
    for stem, made in convert(sources, "odt", "docx", "pdf") + convert(some, "rtf", "html", "epub"):
        document, *around = said[stem]
        program = "LibreOffice Writer" + (", two columns" if around else "")
        keep(made, program, lines(document, "behind" if made.suffix in (".odt", ".rtf") else "end", *around))
    for language, encoding in (("de", "MS_1252"), ("ru", "KOI8_R"), ("el", "ISO_8859_7")):
        [(_, made)] = convert([work / f"writer-{language}.fodt"], f"txt:Text (encoded):{encoding},LF")
        keep(made, f"LibreOffice Writer, {encoding}", lines(DOCUMENTS[language], "nowhere").replace("\t", "\n"), f"writer-{encoding}.txt")


def calc():
    def cell(value, column, rows):
        if value == "":
            return "<table:table-cell/>"
        if isinstance(value, str) and value[:4].isdigit() and value[4:5] == "-":
            return f'<table:table-cell table:style-name="D" office:value-type="date" office:date-value="{value}"><text:p>{value}</text:p></table:table-cell>'
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{esc(value)}</text:p></table:table-cell>'
        style = "P" if rows[0][column:column + 1] == ["Share"] else "N"
        return f'<table:table-cell table:style-name="{style}" office:value-type="float" office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
    styles = """<office:automatic-styles><number:date-style style:name="DS"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<number:percentage-style style:name="PS"><number:number number:decimal-places="1" number:min-decimal-places="0" number:min-integer-digits="1"/><number:text> %</number:text></number:percentage-style>
<style:style style:name="D" style:family="table-cell" style:data-style-name="DS"/><style:style style:name="P" style:family="table-cell" style:data-style-name="PS"/><style:style style:name="N" style:family="table-cell"/></office:automatic-styles>"""
    for name, sheets in SHEETS.items():
        body = "".join(f'<table:table table:name="{esc(title)}">' + "".join(f"<table:table-row>{''.join(cell(value, at, rows) for at, value in enumerate(row)) or '<table:table-cell/>'}</table:table-row>" for row in rows) + "</table:table>" for title, rows in sheets)
        (work / f"calc-{name}.fods").write_text(flat("spreadsheet", styles, body), "utf-8")
    for stem, made in convert([work / f"calc-{name}.fods" for name in SHEETS], "xlsx", "ods"):
        keep(made, "LibreOffice Calc", sheet_lines(SHEETS[stem.removeprefix("calc-")]))
    for form, code in (("utf-8", 76), ("utf-16", 65535), ("windows-1252", 1)):
        first = SHEETS["budget"][:1]
        [(_, made)] = convert([work / "calc-budget.fods"], f'csv:Text - txt - csv (StarCalc):{"44" if code == 76 else "59"},34,{code},1,,0,false,true,false,false,false,1')
        keep(made, f"LibreOffice Calc, {form}", separated(first[0][1], "," if code == 76 else ";", lambda value: f"{value:.1%}".replace(".0%", "%")), f"calc-{form}.csv")


def impress():
    styles = '<office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties fo:page-width="25cm" fo:page-height="14cm"/></style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="M" style:page-layout-name="L"/></office:master-styles>'
    box = lambda kind, top, body: f'<draw:frame presentation:class="{kind}" svg:x="1cm" svg:y="{top}cm" svg:width="22cm" svg:height="3cm"><draw:text-box>{body}</draw:text-box></draw:frame>'
    for name, slides in SLIDES.items():
        pages = ""
        for number, (title, points, note) in enumerate(slides):
            items = "".join(f"<text:list-item><text:p>{esc(point)}</text:p></text:list-item>" for point in points)
            spoken = f'<presentation:notes>{box("notes", 8, f"<text:p>{esc(note)}</text:p>")}</presentation:notes>' if note else ""
            pages += f'<draw:page draw:name="p{number}" draw:master-page-name="M">{box("title", 1, f"<text:p>{esc(title)}</text:p>")}{box("outline", 5, f"<text:list>{items}</text:list>")}{spoken}</draw:page>'
        (work / f"impress-{name}.fodp").write_text(flat("presentation", styles, pages), "utf-8")
    for stem, made in convert([work / f"impress-{name}.fodp" for name in SLIDES], "pptx", "odp", "pdf"):
        keep(made, "LibreOffice Impress", slide_lines(SLIDES[stem.removeprefix("impress-")], made.suffix != ".pdf"))


def markdown(document):
    first, *rest = document["paragraphs"]
    rows = document["table"]
    out = [f"# {document['title']}", f"{first}[^1]", *rest, f"## {document['heading']}", "\n".join(f"- {item}" for item in document["list"])]
    out += ["\n".join(["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])] + ["| " + " | ".join(row) + " |" for row in rows[1:]])]
    return "\n\n".join([*out, document["closing"], f"[^1]: {document['note']}"]) + "\n"


def pandoc():
    for language in ("en", "de", "el", "zh", "he"):
        document = DOCUMENTS[language]
        source = work / f"pandoc-{language}.md"
        source.write_text(markdown(document), "utf-8")
        kinds = ["docx", "odt", "epub", "rtf", "html"] if language in ("en", "de", "zh") else ["docx", "epub"]
        for kind in kinds:
            made = work / f"pandoc-{language}.{kind}"
            run("pandoc", "-s", "--metadata", f"pagetitle={document['title']}", "-f", "markdown-smart", source, "-o", made)
            keep(made, "pandoc", lines(document, "behind" if kind in ("odt", "rtf") else "end"))
    for name, slides in SLIDES.items():
        source = work / f"pandoc-{name}.md"
        source.write_text("\n\n".join(f"## {title}\n\n" + "\n".join(f"- {point}" for point in points) + (f"\n\n::: notes\n{note}\n:::" if note else "") for title, points, note in slides), "utf-8")
        made = work / f"pandoc-{name}.pptx"
        run("pandoc", "-f", "markdown-smart", "--slide-level", "2", source, "-o", made)
        keep(made, "pandoc", slide_lines(slides))


def web_page(language, document, note="end"):
    rows = "".join("<tr>" + "".join(f"<td>{esc(cell)}</td>" for cell in row) + "</tr>" for row in document["table"])
    return f"""<!doctype html><html lang="{language}" dir="{'rtl' if language in right_to_left else 'ltr'}"><meta charset="utf-8">
<style>body{{font:11pt "{font_of(language)}"}} td{{padding:2pt 12pt}}</style>
<h1>{esc(document['title'])}</h1>{"".join(f"<p>{esc(text)}</p>" for text in document['paragraphs'])}<h2>{esc(document['heading'])}</h2>
<ul>{"".join(f"<li>{esc(item)}</li>" for item in document['list'])}</ul><table>{rows}</table><p>{esc(document['closing'])}</p><p>{esc(document['note'])}</p></html>"""


def printers():
    for language, programs in {"en": ("chromium",), "de": ("chromium", "weasyprint"), "el": ("weasyprint",), "he": ("chromium",), "ar": ("chromium",), "ru": ("weasyprint",)}.items():
        source = work / f"page-{language}.html"
        source.write_text(web_page(language, DOCUMENTS[language]), "utf-8")
        for program in programs:
            made = work / f"{program}-{language}.pdf"
            if program == "weasyprint":
                run("weasyprint", "-s", "/dev/null", source, made)
            else:
                run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={made}", source)
            keep(made, program, lines(DOCUMENTS[language]))
    for language in ("de", "he"):
        keep(work / f"page-{language}.html", "a web page", lines(DOCUMENTS[language]))
    letter = DOCUMENTS["en"]
    plain = lambda text: text.replace("–", "-").replace("€", "EUR")
    roff = f".SH\n{letter['title']}\n" + "".join(f".PP\n{plain(text)}\n" for text in [*letter["paragraphs"], letter["closing"]])
    made = work / "groff-en.pdf"
    with open(made, "wb") as out:
        subprocess.run(["groff", "-ms", "-Tpdf"], input=roff.encode(), stdout=out, check=True)
    keep(made, "groff", "\n".join([letter["title"], *map(plain, [*letter["paragraphs"], letter["closing"]])]))
    made = work / "ghostscript-en.pdf"
    with open(work / "en.ps", "wb") as out:
        subprocess.run(["groff", "-ms", "-Tps"], input=roff.encode(), stdout=out, check=True)
    run("gs", "-q", "-sDEVICE=pdfwrite", "-o", made, work / "en.ps")
    keep(made, "ghostscript", "\n".join([letter["title"], *map(plain, [*letter["paragraphs"], letter["closing"]])]))
    for name, source, options in (("compressed", "pl", ["--object-streams=generate", "--recompress-flate", "--linearize"]), ("no-password-to-read", "de", ["--encrypt", "", "owner", "256", "--"])):
        made = work / f"qpdf-{name}.pdf"
        run("qpdf", *options, work / "out/pdf" / f"writer-{source}.pdf", made)
        keep(made, "qpdf", lines(DOCUMENTS[source]))
    made = work / "ghostscript-ru.pdf"
    run("gs", "-q", "-sDEVICE=pdfwrite", "-dCompatibilityLevel=1.4", "-o", made, work / "out/pdf/writer-ru.pdf")
    keep(made, "ghostscript", lines(DOCUMENTS["ru"]))
    for kind in ("rtf", "docx", "odt", "html"):
        made = work / f"abiword-de.{kind}"
        run("abiword", "--to", kind, "-o", made, work / "out/odt/writer-de.odt")
        before = "Abiword HTML Document" if kind == "html" else ""
        keep(made, "AbiWord", lines(DOCUMENTS["de"], "end" if kind in ("docx", "html") else "behind", before))


def by_libraries():
    import docx, openpyxl, xlsxwriter
    from ebooklib import epub
    from odf import opendocument, table as odf_table, text as odf_text
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table
    for language in ("de",):
        document, made = DOCUMENTS[language], docx.Document()
        made.add_heading(document["title"], 1)
        for text in document["paragraphs"]: made.add_paragraph(text)
        made.add_heading(document["heading"], 2)
        for item in document["list"]: made.add_paragraph(item, style="List Bullet")
        grid = made.add_table(len(document["table"]), len(document["table"][0]))
        for at, row in enumerate(document["table"]):
            for column, value in enumerate(row): grid.cell(at, column).text = value
        made.add_paragraph(document["closing"])
        made.add_paragraph(document["note"])
        made.save(work / f"python-docx-{language}.docx")
        keep(work / f"python-docx-{language}.docx", "python-docx", lines(document))
    typed = lambda value: datetime.date.fromisoformat(value) if isinstance(value, str) and value[:4].isdigit() and value[4:5] == "-" else value
    for name, sheets in SHEETS.items():
        book, other = openpyxl.Workbook(), xlsxwriter.Workbook(work / f"xlsxwriter-{name}.xlsx")
        book.remove(book.active)
        day, share = other.add_format({"num_format": "yyyy-mm-dd"}), other.add_format({"num_format": "0.0%"})
        for title, rows in sheets:
            one, two = book.create_sheet(title), other.add_worksheet(title)
            for at, row in enumerate(rows):
                for column, value in enumerate(row):
                    if value == "": continue
                    cell = one.cell(at + 1, column + 1, typed(value))
                    is_share = rows[0][column:column + 1] == ["Share"] and at > 0
                    if is_share: cell.number_format = "0.0%"
                    if isinstance(typed(value), datetime.date): two.write_datetime(at, column, typed(value), day)
                    else: two.write(at, column, value, share if is_share else None)
        book.save(work / f"openpyxl-{name}.xlsx")
        other.close()
        keep(work / f"openpyxl-{name}.xlsx", "openpyxl", sheet_lines(sheets))
        keep(work / f"xlsxwriter-{name}.xlsx", "XlsxWriter", sheet_lines(sheets))
    document = DOCUMENTS["ru"]
    made = opendocument.OpenDocumentText()
    made.text.addElement(odf_text.H(outlinelevel=1, text=document["title"]))
    for text in document["paragraphs"]: made.text.addElement(odf_text.P(text=text))
    made.text.addElement(odf_text.H(outlinelevel=2, text=document["heading"]))
    points = odf_text.List()
    for item in document["list"]:
        point = odf_text.ListItem(); point.addElement(odf_text.P(text=item)); points.addElement(point)
    made.text.addElement(points)
    grid = odf_table.Table(name="T")
    for row in document["table"]:
        line = odf_table.TableRow()
        for value in row:
            cell = odf_table.TableCell(); cell.addElement(odf_text.P(text=value)); line.addElement(cell)
        grid.addElement(line)
    made.text.addElement(grid)
    for text in (document["closing"], document["note"]): made.text.addElement(odf_text.P(text=text))
    made.save(str(work / "odfpy-ru.odt"))
    keep(work / "odfpy-ru.odt", "odfpy", lines(document))
    for language in ("ko", "pl"):
        document, book = DOCUMENTS[language], epub.EpubBook()
        book.set_title(document["title"]); book.set_language(language)
        body = web_page(language, document)
        chapter = epub.EpubHtml(title=document["title"], file_name="chapter one.xhtml", lang=language)
        chapter.content = body[body.index("<h1>"):body.index("</html>")]
        book.add_item(chapter); book.add_item(epub.EpubNcx()); book.spine = [chapter]
        epub.write_epub(str(work / f"ebooklib-{language}.epub"), book)
        keep(work / f"ebooklib-{language}.epub", "ebooklib", lines(document))
    styles = getSampleStyleSheet()
    for language, columns in (("en", 1), ("en", 2), ("de", 2)):
        document = DOCUMENTS[language]
        for style in ("Normal", "Heading1", "Heading2"):
            styles[style].fontName = "Helvetica"
        name = f"reportlab-{language}-{columns}.pdf"
        made = BaseDocTemplate(str(work / name), pagesize=A4, title=document["title"])
        width = (A4[0] - 100) / columns
        made.addPageTemplates(PageTemplate(frames=[Frame(50 + width * column, 50, width - 10, A4[1] - 100) for column in range(columns)]))
        paragraphs = document["paragraphs"] * (3 if columns == 2 else 1)
        story = [Paragraph(esc(document["title"]), styles["Heading1"])] + [Paragraph(esc(text), styles["Normal"]) for text in paragraphs]
        story += [Paragraph(esc(document["heading"]), styles["Heading2"])] + [Paragraph(esc(item), styles["Normal"]) for item in document["list"]]
        story += [Table(document["table"], style=[("FONT", (0, 0), (-1, -1), "Helvetica")]), Paragraph(esc(document["closing"]), styles["Normal"]), Paragraph(esc(document["note"]), styles["Normal"])]
        made.build(story)
        keep(work / name, "ReportLab", lines({**document, "paragraphs": paragraphs}))


def letters():
    def build(name, language, text, charset, encoding="quoted-printable", with_html=False, only_html=False, attached=None):
        message = email.message.EmailMessage(policy=email.policy.SMTP)
        subject = DOCUMENTS.get(language, DOCUMENTS["en"])["title"]
        message["From"], message["To"], message["Cc"] = "Jürgen Müller <jm@example.org>", "Edith Marlow <edith@example.org>", "office@example.org"
        message["Subject"], message["Date"], message["Message-ID"] = subject, "Tue, 12 May 2026 09:30:00 +0200", f"<{name}@example.org>"
        page = "<html><body>" + "".join(f"<p>{esc(line)}</p>" for line in text.split("\n")) + "</body></html>"
        if only_html: message.set_content(page, subtype="html", charset=charset, cte=encoding)
        else: message.set_content(text, charset=charset, cte=encoding)
        if with_html: message.add_alternative(page, subtype="html", charset=charset)
        if attached: message.add_attachment(b"\x00\x01", "application", "octet-stream", filename=attached)
        head = ["From: Jürgen Müller <jm@example.org>", "To: Edith Marlow <edith@example.org>", "Cc: office@example.org", "Date: 2026-05-12T07:30:00.000Z", f"Subject: {subject}"]
        keep(bytes(message), "Python's email", "\n".join([*head, text] + ([f"[Attached: {attached}]"] if attached else [])), f"{name}.eml")
    build("mail-fr", "fr", PLAIN["fr"], "iso-8859-1", attached="Rechnung Nº 7.pdf")
    build("mail-ru", "ru", lines(DOCUMENTS["ru"]).replace("–", "-").replace("₽", "RUB"), "koi8-r", "base64")
    build("mail-ja", "ja", lines(DOCUMENTS["ja"]).replace("–", "-"), "iso-2022-jp", "7bit")
    build("mail-de-html", "de", lines(DOCUMENTS["de"]), "utf-8", with_html=True)
    build("mail-el-only-html", "el", lines(DOCUMENTS["el"]), "utf-8", "base64", only_html=True)


def encodings():
    for language, names in {"fr": ["cp1252", "iso8859-15", "utf-8-sig", "utf-16"], "de": ["cp1252", "utf-16-le"], "pl": ["cp1250", "iso8859-2"], "ru": ["cp1251", "koi8-r", "utf-16-be", "cp866"], "el": ["cp1253"], "tr": ["cp1254"], "he": ["cp1255"], "ar": ["cp1256"], "th": ["cp874"], "hi": ["utf-8"], "vi": ["utf-8"], "ja": ["cp932", "euc-jp", "iso2022-jp"], "zh": ["gb18030", "utf-8"], "ko": ["cp949"]}.items():
        text = PLAIN.get(language) or lines(DOCUMENTS[language])
        for name in names:
            written = text.replace("₽", "RUB") if language == "ru" else text
            if name in ("iso8859-2", "koi8-r", "cp866"): written = written.replace("–", "-").replace("„", '"').replace("“", '"')
            keep(written.encode(name), f"Python, {name}", written, f"text-{language}-{name}.txt")
    for name, separator, encoding in (("commas", ",", "utf-8"), ("semicolons", ";", "cp1252"), ("tabs", "\t", "utf-16")):
        text = separated(SHEETS["budget"][0][1], separator)
        keep(text.replace("\n", "\r\n").encode(encoding), f"Python's csv, {encoding}", text, f"csv-{name}.csv")


if __name__ == "__main__":
    for folder in (files, texts):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    (work / "out").mkdir(parents=True, exist_ok=True)
    for part in (writer, calc, impress, pandoc, printers, by_libraries, letters, encodings):
        part()
        print(part.__name__, len(manifest), flush=True)
    (here / "corpus.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(len(manifest), "files,", sum(found.stat().st_size for found in files.iterdir()) // 1024, "KiB")
