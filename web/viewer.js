// Puts the page together.

/** @param {ReportDocument} report @returns {(Node | null)[]} */
function pageOf(report) {
  const timeline = new Timeline(report);
  // `report.html#find=autoboot` opens at the first thing of that name.
  const wanted = new URLSearchParams(location.hash.slice(1)).get("find");
  if (wanted) timeline.find(wanted);
  return [
    headline(report), splitsSection(report), comparisonSection(report), costsSection(report, timeline),
    trialsSection(report), timeline.element, findingsSection(report, timeline), gapsSection(report, timeline),
    noticesSection(report), basisSection(report),
  ];
}

const root = /** @type {HTMLElement} */ (document.getElementById("report"));
try {
  root.append(...pageOf(loadReport()).filter((node) => node !== null));
} catch (error) {
  root.append(el("p", { class: "bad" }, `This page cannot show its data: ${error}`));
  console.error(error);
}
