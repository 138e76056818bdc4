"""Draws the rows of bench/compare as bars: an SVG file, a panel per workload."""

from xml.sax.saxutils import escape

COLOURS = {"tenon": "#0b6e99", "llama.cpp": "#c08a3e", "openvino": "#7d8f69",
           "onnxruntime": "#a3708c", "torch": "#8a8f98"}
BAR, GAP, HEAD, MARGIN = 14, 5, 34, 24
LABEL, BARS, VALUE = 150, 220, 90
PANEL = LABEL + BARS + VALUE


def number(value):
    """Three digits of it, or all before the point."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"


def text(x, y, content, size=12, anchor="start", colour="#1f2328", weight=400):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
            f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
            f"{escape(content)}</text>")


def panel(x, y, rows):
    """The bars of one workload, and where they end."""
    first = rows[0]
    better = "more" if first["more_is_better"] else "less"
    parts = [text(x, y + 14, first["workload"], 14, weight=600),
             text(x + PANEL, y + 14, f"{first['unit']}, {better} is better",
                  11, "end", "#59636e")]
    most = max(row["value"] for row in rows) or 1
    y += HEAD - 8
    for row in rows:
        own = row["engine"] == "tenon"
        width = max(1, BARS * row["value"] / most)
        base = y + BAR - 3
        label = f"{'Tenon' if own else row['engine']} {row['format']}"
        parts.append(text(x + LABEL - 8, base, label, 11, "end",
                          weight=600 if own else 400))
        parts.append(f'<rect x="{x + LABEL}" y="{y}" width="{width:.1f}" '
                     f'height="{BAR}" rx="2" fill="{COLOURS[row["engine"]]}"/>')
        value = number(row["value"])
        if row["share"] is not None:
            value += f" ({100 * row['share']:.0f} %)"
        parts.append(text(x + LABEL + width + 5, base, value, 11))
        y += BAR + GAP
    return parts, y + HEAD - BAR


def draw(rows, about):
    """SVG text of rows as `Comparison.rows` gives them."""
    panels = {}
    for row in rows:
        panels.setdefault(row["workload"], []).append(row)
    columns = 2 if len(panels) > 1 else 1
    heights = [MARGIN + 44] * columns
    parts = []
    for group in panels.values():
        column = heights.index(min(heights))
        drawn, heights[column] = panel(
            MARGIN + column * (PANEL + 2 * MARGIN), heights[column], group)
        parts += drawn
    width = columns * (PANEL + 2 * MARGIN)
    height = max(heights)
    model, _, rest = about.partition(", ")
    head = [text(MARGIN, MARGIN + 10, f"Tenon and other engines: {model}", 16,
                 weight=600),
            text(MARGIN, MARGIN + 28,
                 "in brackets: share of what the machine can do", 11,
                 colour="#59636e"),
            text(MARGIN, height + 4, rest, 10, colour="#59636e")]
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
         f'height="{height + MARGIN}" viewBox="0 0 {width} {height + MARGIN}" '
         'font-family="system-ui, sans-serif">',
         '<rect width="100%" height="100%" fill="#ffffff"/>']
        + head + parts + ["</svg>", ""])
