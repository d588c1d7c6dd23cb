// Searches all pages for sections that have each of the words. The pages'
// texts come from index.js, so that it works from a folder, without a server.
function plain(text) {
  return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
}

// Sections with every word, those first that have them in their titles.
function search(sections, question) {
  const words = plain(question).split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const found = [];
  for (const section of sections) {
    const title = plain(section.page + " " + section.title);
    const text = plain(section.text);
    if (!words.every((word) => title.includes(word) || text.includes(word)))
      continue;
    const inTitle = words.filter((word) => title.includes(word)).length;
    const at = Math.max(0, text.indexOf(words[0]) - 60);
    found.push({ ...section, inTitle, excerpt: section.text.substr(at, 200) });
  }
  return found.sort((a, b) => b.inTitle - a.inTitle).slice(0, 50);
}

function show(main, question) {
  const list = document.createElement("ol");
  const title = document.createElement("h1");
  const found = search(SECTIONS, question);
  title.textContent = `${found.length} sections have "${question}"`;
  list.id = "found";
  for (const section of found) {
    const item = list.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = section.address;
    link.textContent = `${section.page}: ${section.title}`;
    item.appendChild(document.createElement("p")).textContent =
      `${section.reader} \u00b7 ${section.excerpt}`;
  }
  main.replaceChildren(title, list);
}

if (typeof document !== "undefined") {
  const main = document.querySelector("main");
  const box = document.querySelector("nav input");
  const before = [...main.childNodes];
  box.hidden = false;
  box.addEventListener("input", () => {
    if (box.value.trim() === "") main.replaceChildren(...before);
    else show(main, box.value);
  });
  // On a narrow screen the page comes first, its list of pages is folded.
  const narrow = matchMedia("(max-width: 50rem)");
  const pages = document.querySelector("nav details");
  const fold = () => { pages.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  // "/" leads to the search; a link found in this page leads back to it.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === box) return;
    event.preventDefault();
    box.focus();
  });
  window.addEventListener("hashchange", () => {
    if (box.value === "") return;
    box.value = "";
    main.replaceChildren(...before);
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  });
}
if (typeof module !== "undefined") module.exports = { search };
