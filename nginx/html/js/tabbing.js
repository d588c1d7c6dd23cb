/*
 * tabbing: Tab leaves the grid for what stands after it, Shift+Tab for the
 * column's head; arrows move within. By cells, as the component has it, the way
 * to the next button would lead through all rows.
 */
const REACHED = "a[href], button, input, select, summary, [tabindex='0']";

const isReached = (node) => !node.disabled && node.tabIndex >= 0 &&
    node.offsetParent !== null && node.closest("[inert]") === null;

/* What Tab would come to after `host`; at the end, the first of the page. */
function after(host) {
	const all = [...document.querySelectorAll(REACHED)]
	    .filter((node) => !host.contains(node) && isReached(node));

	return all.find((node) => host.compareDocumentPosition(node) &
	    Node.DOCUMENT_POSITION_FOLLOWING) ?? all[0];
}

/* `toHead` goes to the head of the cell's column, where there is one. */
export function tabOut(host, toHead) {
	host.addEventListener("keydown", (event) => {
		if (event.key !== "Tab" || !event.target.closest(".ag-row"))
			return;
		event.preventDefault();
		event.stopPropagation();
		if (event.shiftKey)
			toHead(event.target.closest(".ag-cell"));
		else
			after(host)?.focus();
	}, true);
}
