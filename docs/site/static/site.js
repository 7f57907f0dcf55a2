// What furo leaves out for people who use a keyboard or a screen reader.
function completeForKeyboards() {
  // The captions of the navigation are headings; a heading needs its level.
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
  // Wide code and tables scroll by themselves; the arrow keys do that only where the focus can go.
  for (const region of document.querySelectorAll("pre, .table-wrapper")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}
addEventListener("load", completeForKeyboards);
addEventListener("resize", completeForKeyboards);
