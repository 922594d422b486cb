#include <compare/html_page.hpp>

#include <cctype>

namespace coir::apps {

namespace {

// Colours that people with any kind of colour vision tell apart (Okabe and Ito), darker on white
// and lighter on black.
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
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 400; }
th:first-child { text-align: left; padding-left: 0; }
table.overview tbody th { min-width: 15rem; }
table.sizes { font-size: .8rem; margin-top: .5rem; }
table.sizes th, table.sizes td { padding: .25rem .45rem; }
table.sizes tbody th { white-space: nowrap; padding-left: 0; }
.lead { font-size: 1.05rem; margin: .8rem 0; }
.doubt { border-left: 4px solid var(--c1); padding-left: .7rem; }
details { margin-top: .5rem; }
summary { color: var(--soft); cursor: pointer; }
.notes { padding-left: 1.2rem; font-size: .875rem; }
.cards figure { margin: 0; }
figure.single { max-width: 760px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 500px), 1fr)); gap: 1rem; }
figure { margin: 0 0 1rem; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
svg { font-size: 13px; }
figure > svg { display: block; width: 100%; height: auto; max-width: 32rem; margin: 0 auto; }
.strips { display: grid; grid-template-columns: minmax(10rem, 2fr) 3fr; column-gap: 1rem; align-items: center; }
.strips span { text-align: right; font-size: .875rem; }
svg.strip { display: block; width: 100%; height: 24px; }
svg.dot { overflow: visible; }
svg.sample { display: inline-block; width: 34px; height: 14px; vertical-align: middle; margin-right: .4rem; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; padding: 0; list-style: none; }
.legend li { color: var(--ink); }
svg text { fill: var(--soft); }
.grid { stroke: var(--grid); stroke-width: 1; fill: none; }
.axis { stroke: var(--soft); stroke-width: 1; fill: none; }
.line { stroke-width: 2; fill: none; stroke-linejoin: round; }
.limit { stroke-width: 1.5; stroke-dasharray: 5 4; fill: none; }
.spread { stroke-width: 2; fill: none; opacity: .6; }
.band { fill: var(--ink); opacity: .1; }
.stem { stroke-width: 2; fill: none; opacity: .45; }
.crossing { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 3; fill: none; }
.marker { stroke: var(--card); stroke-width: 1; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 3rem; }
  figure { padding: .6rem; }
  .strips { grid-template-columns: 1fr; }
  .strips span { text-align: left; }
  /* Each row a block: its name, and below it a line for each column. */
  table, tbody, tr, tbody th, td { display: block; width: 100%; }
  thead { position: absolute; left: -9999px; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  tbody th, td, table.sizes tbody th, table.sizes td { border: 0; padding: .1rem 0; }
  tbody th { font-weight: 600; }
  td { display: flex; justify-content: space-between; gap: 1rem; }
  td::before { content: attr(data-label); color: var(--soft); text-align: left; }
  td:empty { display: none; }
}
@media print { body { max-width: none; } figure { break-inside: avoid; } }
)css";

}  // namespace

std::string escaped(std::string const& text) {
  std::string safe;
  for (char const c : text) switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default:
        safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;  // control characters are no XML
    }
  return safe;
}

std::string quantity(std::string const& text) {
  auto const is_alphanumeric = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::string safe = escaped(text);
  for (std::string const unit : {" us", " uJ"})
    for (auto at = safe.find(unit); at != std::string::npos; at = safe.find(unit, at + 1)) {
      std::size_t const end = at + unit.size();
      bool const is_number = at > 0 && std::isdigit(static_cast<unsigned char>(safe[at - 1])) != 0;
      if (is_number && (end == safe.size() || !is_alphanumeric(safe[end])))
        safe.replace(at + 1, 1, "&#181;");
    }
  return safe;
}

std::string page_table(Grid const& grid, std::string const& kind) {
  std::string html = "<div class=\"wide\"><table class=\"" + kind + "\">\n<thead><tr>";
  for (auto const& heading : grid.headings)
    html += "<th scope=\"col\">" + escaped(heading) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (auto const& row : grid.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      html += c == 0 ? "<th scope=\"row\">" + quantity(row[c]) + "</th>"
                     : "<td data-label=\"" + escaped(grid.headings[c]) + "\">" + quantity(row[c]) +
                           "</td>";
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
