"use strict";
/* Builds the page from the figures in #data: summary, contents, and for each figure its finding, charts, published and
 * simulated values, table of values and configuration. Without a chart library there are only tables. */

const report = JSON.parse(document.getElementById("data").textContent);

/* --- helpers --- */

/* element("td.number", {title: "..."}, children...). `onclick` is a listener; null and "" children are skipped. */
function element(name, attributes = {}, ...children) {
    const [tag, ...classes] = name.split(".");
    const node = document.createElement(tag);
    if (classes.length) node.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
        else node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
}

const distinct = (list) => [...new Set(list)];
const inUnit = (text, unit) => (unit ? `${text} ${unit}` : text);
const captionOf = ({ label, unit }) => (unit ? `${label} (${unit})` : label);

/* Formats values with four significant digits of the largest; integers without decimals. */
function formatter(values, unit) {
    const largest = Math.max(0, ...values.map(Math.abs)); /* null counts as 0 */
    const isWhole = values.every((value) => Number.isInteger(value ?? 0));
    const digits = isWhole ? 0 : Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(largest))));
    const printed = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return (value) => (value === null ? "missing" : inUnit(printed.format(value), unit));
}

/* A single simulated value. */
function inShort(value, unit) {
    if (value === null) return "missing";
    const size = Math.abs(value);
    return inUnit(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2), unit);
}

/* --- tables --- */

/* Wide content scrolls within the page, also by keyboard. */
const scrolling = (name, child) => element("div.scroll", { tabindex: 0, role: "group", "aria-label": name }, child);
const heading = (text, scope, ...more) => element("th", { scope }, text, ...more);
const cell = (text) => element("td", {}, text);
const number = (text) => element(text === "missing" ? "td.number.missing" : "td.number", {}, text);
const verdict = (name) => element("td", {}, element(`span.verdict.${name.replace(" ", "-")}`, {}, name));

function table(caption, heads, rows, name = "table") {
    const head = element("thead", {}, element("tr", {}, ...heads.map((text) => heading(text, "col"))));
    return scrolling(caption, element(name, {}, element("caption", {}, caption), head, element("tbody", {}, ...rows)));
}

function sheetTable(sheet) {
    const say = formatter(sheet.values.flat(), "");
    const range = (r, c) => (sheet.low && sheet.low[r][c] !== null
        ? element("span.range", {}, ` (${say(sheet.low[r][c])} to ${say(sheet.high[r][c])})`) : "");
    const row = (label, r) => {
        const numbers = sheet.values[r].map((value, c) => {
            const shown = number(say(value));
            shown.append(range(r, c));
            return shown;
        });
        return element(sheet.means[r] ? "tr.mean" : "tr", {}, heading(label, "row"), ...numbers);
    };
    const rows = sheet.rows.map(row);
    return table(captionOf(sheet), ["", ...sheet.columns], rows);
}

function theirsAndOurs({ said, unit, ours, low, high, verdict: name }) {
    const range = low === null ? "" : ` (${inShort(low, "")} to ${inShort(high, "")})`;
    return [number(inUnit(said, unit)), number(inShort(ours, unit) + range), verdict(name)];
}

/* Of quantities, not of effects, whose error is a difference of percentages. */
function errorOf({ error }) {
    return number(error === null ? "" : `${error < 0 ? "\u2212" : "+"}${Math.abs(error).toFixed(1)} %`);
}

function paperTable({ papers }) {
    const measured = papers.some(({ error }) => error !== null);
    const heads = ["Metric", "Scheme", "Source", "Published", "Simulated", "Verdict", ...(measured ? ["Error"] : [])];
    const row = (value) => element("tr", {}, heading(value.what, "row"), cell(value.scheme), cell(value.where),
        ...theirsAndOurs(value), measured ? errorOf(value) : null);
    return table("Published and simulated values", heads, papers.map(row), "table.compared");
}

function choiceTable({ choices }) {
    const row = ({ workload, column, parameter, chosen }) =>
        element("tr", {}, heading(workload, "row"), cell(column), cell(parameter), cell(chosen));
    return table("Best parameter values", ["Workload", "Design", "Parameter", "Best (or per launch)"], choices.map(row));
}

/* Coloured cells: CSS mixes the colour from a value's share of the largest. With many columns, numbers are only in
 * tooltips and for screen readers. */
function heatTable({ title, unit, rows, columns, values }) {
    const say = formatter(values.flat(), "");
    const largest = Math.max(0, ...values.flat());
    const share = (value) => (largest ? (100 * Math.max(0, value)) / largest : 0);
    const heatCell = (value, r, c) => {
        const name = value === null ? "td.missing" : share(value) > 55 ? "td.deep" : "td";
        const hover = `${rows[r]}, ${columns[c]}: ${value === null ? "missing" : inUnit(say(value), unit)}`;
        const style = `--share: ${share(value).toFixed(1)}%`;
        return element(name, { style, title: hover }, element("span", {}, say(value)));
    };
    const lines = values.map((line, r) =>
        element("tr", {}, heading(rows[r], "row"), ...line.map((value, c) => heatCell(value, r, c))));
    const every = Math.ceil(columns.length / 24);
    const heads = columns.map((label, c) => (c % every === 0 ? label : ""));
    const scale = element("p.scale", {}, "0", element("span.ramp"), inUnit(say(largest), unit));
    const name = columns.length > 16 ? "table.heat.dense" : "table.heat";
    return element("div.heat", {}, table(title, ["", ...heads], lines, name), scale);
}

/* --- controls --- */

function togglesOf({ kind }, view, redraw) {
    const toggle = (name, index) => {
        const onclick = () => {
            if (!view.hidden.delete(name)) view.hidden.add(name);
            button.setAttribute("aria-pressed", String(!view.hidden.has(name)));
            redraw();
        };
        const button = element("button.toggle", { type: "button", "aria-pressed": "true", onclick },
            kind === "stack" ? null : swatch(index), name);
        return button;
    };
    return element("div.toggles", { role: "group", "aria-label": "Designs shown" }, ...view.names.map(toggle));
}

function sorterOf([{ columns }], view, redraw) {
    const onchange = () => {
        view.sortedBy = select.value || null;
        redraw();
    };
    const option = (value, text) => element("option", { value }, text);
    const options = [option("", "as listed"), ...columns.map((name) => option(name, `by ${name}`))];
    const select = element("select", { onchange }, ...options);
    return element("label.sorter", {}, "Order ", select);
}

function controlsOf(figure, view, boxes) {
    const redraw = () => boxes.forEach((box) => box.redraw());
    const isStack = figure.kind === "stack";
    const isSortable = (isStack || figure.kind === "bars") && figure.sheets.length > 0;
    const isMarked = figure.papers.some(({ mark, sheet }) => mark !== null && sheet >= 0);
    const part = ({ metric }, i) => element("span", {}, swatch(i), metric);
    return element("div.controls", {},
        view.names.length > 1 ? togglesOf(figure, view, redraw) : null,
        isSortable ? sorterOf(figure.sheets, view, redraw) : null,
        isMarked ? element("span.key", {}, "◆ published value") : null,
        figure.sheets.some(({ low }) => low) ? element("span.key", {}, "I range over the seeds") : null,
        isStack ? element("div.parts", {}, ...figure.sheets.map(part)) : null);
}

/* --- the page --- */

const nameOf = (figure) => figure.figure || figure.name;
const linkTo = (figure, ...children) => element("a", { href: `#${figure.id}` }, ...children);
const paragraph = (name, text) => (text ? element(`p.${name}`, {}, text) : null);

function details(summary, isOpen, ...children) {
    return element("details", isOpen ? { open: "" } : {}, element("summary", {}, summary), ...children);
}

function figureSection(figure) {
    const { id, sheets, choices, matrices, missing, configuration } = figure;
    const view = viewOf(figure);
    const boxes = chartsOf(figure, view);
    const isDrawn = boxes.length + matrices.length > 0;
    const runs = missing === 1 ? "1 run is" : `${missing} runs are`;
    const plot = (kind) => element("a", { href: `${figure.plots}/${id}.${kind}` }, kind.toUpperCase());
    return element("section.figure", { id, "aria-labelledby": `${id}-title` },
        paragraph("paper", figure.paper ? `${figure.paper}, ${figure.figure}` : figure.name),
        element("h2", { id: `${id}-title` }, figure.title),
        paragraph("question", figure.question),
        paragraph("finding", figure.finding),
        paragraph("absent", missing && `${runs} missing: sluice lab run ${figure.name}`),
        boxes.length ? controlsOf(figure, view, boxes) : null,
        ...boxes,
        ...matrices.map(heatTable),
        figure.papers.length ? paperTable(figure) : null,
        paragraph("note", figure.note),
        sheets.length ? details("Values", !isDrawn, ...sheets.map(sheetTable)) : null,
        choices.length ? details("Parameter search", false, choiceTable(figure)) : null,
        configuration && details("Configuration", false, element("pre", { tabindex: 0 }, configuration)),
        figure.plots && element("p.plots", {}, "Download: ", plot("svg"), " ", plot("pdf")));
}

/* One row per figure: its first published value, and the number of values that agree. */
function headlines() {
    const all = report.figures.flatMap((figure) => figure.papers);
    const count = (papers, name) => papers.filter((paper) => paper.verdict === name).length;
    const row = (figure) => {
        const { papers, finding } = figure;
        const title = heading(linkTo(figure, nameOf(figure)), "row", " ", element("span.title", {}, figure.title));
        if (!papers.length) return element("tr", {}, title, element("td", { colspan: all.length ? 5 : 1 }, finding));
        const { what, scheme } = papers[0];
        return element("tr", {}, title, cell(`${what}, ${scheme}`), ...theirsAndOurs(papers[0]),
            number(`${count(papers, "agrees")} of ${papers.length}`));
    };
    const compared = ["Metric", "Published", "Simulated", "Verdict", "Values that agree"];
    const heads = ["Figure", ...(all.length ? compared : ["Finding"])];
    const tally = distinct(all.map((paper) => paper.verdict)).map((name) => `${count(all, name)} ${name}`).join(", ");
    const place = document.getElementById("headlines");
    place.append(table("Summary", heads, report.figures.map(row), "table.compared"));
    if (!all.length) return;
    place.append(paragraph("tally", `${all.length} published values: ${tally}.`), paragraph("rule", report.rule));
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";

function show() {
    document.getElementById("theme").setAttribute("aria-pressed", String(isDark()));
    readPalette();
    redraws.forEach((redraw) => redraw());
}

function switchTheme() {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
}

const count = report.figures.length;
document.getElementById("lead").append(`${count} ${count === 1 ? "figure" : "figures"}, sluice ${report.sluice}`);
const inputs = distinct(report.figures.map((figure) => figure.inputs).filter(Boolean));
if (inputs.length) {
    const warning = `Simulated with inputs of size ${inputs.join(" and ")}, which are smaller than those of the papers.`;
    document.getElementById("lead").after(element("p.inputs", {}, warning));
}
document.getElementById("contents").append(
    ...report.figures.map((figure) =>
        element("li", {}, linkTo(figure, element("b", {}, nameOf(figure)), " ", figure.title))));
headlines();
document.getElementById("figures").append(...report.figures.map(figureSection));
document.getElementById("theme").addEventListener("click", switchTheme);
prefersDark.addEventListener("change", show);
show();
