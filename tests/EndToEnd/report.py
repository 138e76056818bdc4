"""`tenon inspect MODEL --html FILE`.

report.py TENON WORK EXAMPLES

Of every family's config and of one whose names try to be markup, the page is
well-formed, refers to nothing outside of itself, and shows graphs, layers,
matmuls and the memory plan.
"""

import html.parser
import json
import pathlib
import re
import sys

import support

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Checker(html.parser.HTMLParser):
    """Open tags, tags seen, and text of the cells of tables."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.wrong = [], {}, []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data") or (
                    name.startswith("on")):
                self.wrong.append(f"{tag} {name}={value}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        self.text += data


def check_page(test, what, path, parts):
    text = path.read_text()
    page = Checker()
    page.feed(text)
    page.close()
    missing = [part for part in parts if part not in page.text]
    good = (not page.open and not page.wrong and not missing
            and "script" not in page.seen and "link" not in page.seen
            and page.seen.get("svg", 0) >= 2 and page.seen.get("table", 0) >= 3
            and not re.search(r"url\(|@import|https?:", text))
    test.check(good, f"{what}: {len(text)} characters, {page.seen.get('svg', 0)}"
                     f" pictures; open {page.open}, wrong {page.wrong[:3]}, "
                     f"missing {missing}")
    return page


def main():
    test = support.Test(sys.argv[1:3])
    examples = pathlib.Path(sys.argv[3])
    out = test.work / "page.html"

    def page(what, model, parts, *options):
        test.need("tenon", "inspect", model, "--html", out, *options)
        return check_page(test, what, out, parts)

    for config in sorted((examples / "families").glob("*.json")):
        page(config.stem, config,
             ["Layers", "Graphs", "Matmuls", "Memory plan", "Parameters"],
             "--target-cpu", "avx2")
    # What the page says of one model, at two levels.
    llama = examples / "tiny-llama"
    page("tiny-llama at avx512_bf16", llama,
         ["online_attention", "split_append", "self_attn.q_proj.weight + "
          "self_attn.k_proj.weight + self_attn.v_proj.weight 512x256xbf16",
          "library, primitive 0", "a decode-sized batch streams the weights",
          "model.layers.0 … model.layers.3", "4,999,424",
          # 24 rows are few at this level, as compiling it has them: 32 fit.
          "memref<?x256xbf16>: 16,384 bytes"],
         "--target-cpu", "avx512_bf16")
    page("tiny-llama at avx2", llama,
         ["avx2 has no library matmul of f32 rows with panels of bf16"],
         "--target-cpu", "avx2")

    # 61 layers, of which 60 are mixtures: as many pictures as functions.
    config = json.loads((examples / "families" / "deepseek_v3.json")
                        .read_text())
    config["num_hidden_layers"] = 61
    deep = test.work / "deep.json"
    deep.write_text(json.dumps(config))
    seen = page("61 layers", deep, ["… model.layers.60", "eps = 1e-06",
                 "activation = silu", "layer_moe.many × 60"], "--target-cpu",
                "avx2").seen
    test.check(seen["svg"] < 20, f"61 layers: {seen['svg']} pictures")

    # A file's name is text, not markup.
    strange = test.work / "a<script>&\"b.json"
    strange.write_text((examples / "families" / "llama.json").read_text())
    page("a strange name", strange, ["a<script>&\"b.json"], "--target-cpu",
         "avx2")

    # Notes and keys to leave out are as of `inspect MODEL`.
    noted, = support.fixtures(["deepseek_v2-bias"])
    said = test.run("tenon", "inspect", noted.path, "--html", out,
                    "--target-cpu", "avx2").stderr
    test.check("weights stored as F16 are kept as f32" in said,
               f"notes: {said!r}")
    config = json.loads((examples / "families" / "llama.json").read_text())
    strange.write_text(json.dumps(config | {"sketch": 1}))
    test.expect_error("an unknown key", "'sketch'", command=[
        "tenon", "inspect", strange, "--html", out])
    page("a key left out", strange, ["Layers"], "--target-cpu", "avx2",
         "--ignore-config-key", "sketch")

    before = out.read_bytes()
    artifact = test.compile(llama, "tiny", "--target-cpu", "avx2")
    test.expect_error(
        "an artifact", "tiny.tenon", "holds no graph", "--html",
        command=["tenon", "inspect", artifact, "--html", out])
    test.expect_error(
        "no such level", "--target-cpu", "'avx3'", status=2,
        command=["tenon", "inspect", llama, "--html", out, "--target-cpu",
                 "avx3"])
    test.check(out.read_bytes() == before, "errors leave the page alone")
    test.finish()


if __name__ == "__main__":
    main()
