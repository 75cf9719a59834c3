"use strict";
// Tables sort by a click on a column's name, and show the rows that hold what is searched for.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("th button").forEach((button) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const column = head.cellIndex;
      const isNumber = head.classList.contains("number");
      const falls = head.getAttribute("aria-sort") === (isNumber ? "descending" : "ascending");
      const up = isNumber ? falls : !falls;
      table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const compare = isNumber
        ? (a, b) => Number(value(a)) - Number(value(b))
        : (a, b) => value(a).localeCompare(value(b));
      [...body.rows].sort((a, b) => (up ? 1 : -1) * compare(a, b)).forEach((r) => body.append(r));
    });
  });
  const search = document.querySelector(`input[data-for="${table.id}"]`);
  if (search) {
    const count = document.getElementById(`${table.id}-count`);
    const show = () => {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${body.rows.length}`;
    };
    search.addEventListener("input", show);
    show(); // a browser may have kept what was searched for before
  }
}
document.querySelector(".theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
});
