// Where mkdocs' search (search/main.js, loaded next) finds its index and the pages that it names.
var base_url = document.documentElement.dataset.base;

document.addEventListener("keydown", function (event) {
  var query = document.getElementById("mkdocs-search-query");
  if (event.key === "/" && document.activeElement === document.body) {
    event.preventDefault();
    query.focus();
  } else if (event.key === "Escape") {
    query.value = "";
    document.getElementById("mkdocs-search-results").replaceChildren();
  }
});
