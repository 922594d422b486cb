#include <support/html_page.hpp>

#include <support/markup.hpp>

namespace coir::apps {

namespace {

// Colours that people with any kind of colour vision tell apart (Okabe and Ito), darker on white and lighter on black.
constexpr char style[] = R"css(
:root { --back: #ffffff; --card: #f7f8fa; --ink: #1c2128; --soft: #57606a; --line: #d8dee4; --grid: #e6eaee;
  --c0: #0067a5; --c1: #c75000; --c2: #00805c; --c3: #a8488a; --c4: #8a6a00; --c5: #2f8fc4; --c6: #6b4fa0; --c7: #555555; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0f1318; --card: #171c23; --ink: #e4e9ef; --soft: #9aa5b1; --line: #333c47; --grid: #262e37;
    --c0: #56b4e9; --c1: #ff9248; --c2: #3fcf9f; --c3: #e79bcb; --c4: #e8c547; --c5: #9fd4f5; --c6: #b9a2f2; --c7: #b8b8b8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 1240px; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .7rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
h3.later { margin-top: 1.6rem; }
p, ul { margin: .4rem 0; }
.soft, li { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; }
table.machines td { white-space: normal; }
table.overview td:first-child { min-width: 15rem; }
table.sizes { font-size: .8rem; margin-top: .5rem; }
table.sizes th, table.sizes td { padding: .25rem .45rem; }
table.sizes th:first-child, table.sizes td:first-child { white-space: nowrap; padding-left: 0; }
.cards figure { margin: 0; }
figure.single { max-width: 760px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 500px), 1fr)); gap: 1rem; }
figure { margin: 0 0 1rem; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
svg { display: block; width: 100%; height: auto; font-size: 12px; }
svg.sample { display: inline-block; width: 34px; height: 14px; vertical-align: middle; margin-right: .4rem; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; padding: 0; list-style: none; }
.legend li { color: var(--ink); }
svg text { fill: var(--soft); }
svg text.label, svg text.note { fill: var(--ink); }
.grid { stroke: var(--grid); stroke-width: 1; fill: none; }
.axis { stroke: var(--soft); stroke-width: 1; fill: none; }
.line { stroke-width: 2; fill: none; stroke-linejoin: round; }
.limit { stroke-width: 1.5; stroke-dasharray: 5 4; fill: none; }
.stem { stroke-width: 2; fill: none; opacity: .45; }
.crossing { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 3; fill: none; }
.marker { stroke: var(--card); stroke-width: 1; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
)css";

}  // namespace

std::string page_table(Grid const& grid, std::string const& kind) {
  std::string html = "<div class=\"wide\"><table class=\"" + kind + "\">\n<thead><tr>";
  for (auto const& heading : grid.headings) html += "<th>" + escaped(heading) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (auto const& row : grid.rows) {
    html += "<tr>";
    for (auto const& cell : row) html += "<td>" + quantity(cell) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string page_list(std::vector<std::string> const& lines) {
  std::string html = "<ul>\n";
  for (auto const& line : lines) html += "<li>" + escaped(line) + "</li>\n";
  return html + "</ul>\n";
}

std::string begin_page(std::string const& title) {
  return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
         "lang=\"en\">\n<head>\n<meta "
         "charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
         "<title>" +
         escaped(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
}

std::string end_page() { return "</body>\n</html>\n"; }

}  // namespace coir::apps
