"use strict";
/* Charts by Chart.js: bars, stacks, lines over a sweep, time series. A chart is never changed in place: a toggle,
 * another order or another theme rebuilds it from the data and the figure's view, which takes milliseconds. A null value
 * belongs to a missing run and is marked by a cross. */

/* --- colours: a design has a colour and a hatching, a line also dashes and points --- */

const hatchings = [
    "", "M-2 2L2-2M0 8L8 0M6 10L10 6", "M2 2h1v1h-1zM6 6h1v1h-1z", "M-2 6L2 10M0 0L8 8M6-2L10 2", "M0 4H8", "M4 0V8",
];
const dashes = [[], [7, 3], [2, 3], [10, 3, 2, 3]];
const points = ["circle", "rect", "triangle", "rectRot", "cross", "star"];
const cyclic = (list, index) => list[index % list.length];
const colour = (index) => cyclic(report.colours, index);

function tile(index) {
    const canvas = element("canvas", { width: 8, height: 8 });
    const pen = canvas.getContext("2d");
    pen.fillStyle = colour(index);
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = "rgba(255, 255, 255, 0.6)";
    pen.lineWidth = 1.4;
    pen.stroke(new Path2D(cyclic(hatchings, index)));
    return canvas;
}

const fill = (index) => element("canvas").getContext("2d").createPattern(tile(index), "repeat");
const swatch = (index) => element("span.swatch", { style: `background-image: url(${tile(index).toDataURL()})` });

/* The current colours of page.css: a light-dark() pair is resolved only where it is used. */
const palette = {};
function readPalette() {
    const probe = document.getElementById("lead");
    for (const name of ["paper", "ink", "muted", "rule", "band"]) {
        probe.style.color = `var(--${name})`;
        palette[name] = getComputedStyle(probe).color;
    }
    probe.style.color = "";
}

/* --- view of a figure --- */

/* Designs or series in the order of their colours, the hidden ones, and the one that rows are sorted by. */
function viewOf({ sheets, lines }) {
    const names = distinct([...sheets.flatMap((sheet) => sheet.columns), ...lines.map((line) => line.series)]);
    return { names, hidden: new Set(), sortedBy: null };
}

/* Workloads in the experiment's order, or by decreasing value of the first metric or of the whole stack. Missing values
 * come last, followed by means. */
function rowOrder({ kind, sheets }, view) {
    const [first] = sheets;
    const rows = first.rows.map((_, row) => row);
    const column = first.columns.indexOf(view.sortedBy);
    if (column < 0) return rows;
    const parts = kind === "stack" ? sheets : [first];
    const sum = (row) => parts.reduce((total, sheet) => total + (sheet.values[row][column] ?? -1e300), 0);
    const key = (row) => (first.means[row] ? -Infinity : sum(row));
    return rows.sort((a, b) => key(b) - key(a) || a - b);
}

/* --- common to all charts --- */

/* Annotations of bars: a band behind means, a line at ratio 1, the range over the seeds, a cross per missing run, and the
 * published values. */
const notes = {
    id: "notes",
    beforeDatasetsDraw({ ctx: pen, chartArea: area, scales }, _, { means = [], neutral = null }) {
        const step = area.width / Math.max(1, means.length);
        pen.fillStyle = palette.band;
        means.forEach((isMean, i) => isMean && pen.fillRect(area.left + i * step, area.top, step, area.height));
        if (neutral === null) return;
        pen.fillStyle = palette.ink;
        pen.fillRect(area.left, scales.y.getPixelForValue(neutral), area.width, 1);
    },
    afterDatasetsDraw(chart, _, { marks = [], ranges = [] }) {
        const { ctx: pen, scales } = chart;
        const put = (sign, style, x, y) => {
            pen.fillStyle = style;
            pen.strokeText(sign, x, y);
            pen.fillText(sign, x, y);
        };
        pen.save();
        Object.assign(pen, { textAlign: "center", textBaseline: "middle", font: "15px system-ui, sans-serif" });
        Object.assign(pen, { strokeStyle: palette.paper, lineWidth: 3 });
        chart.data.datasets.forEach(({ data }, i) => {
            if (!chart.isDatasetVisible(i)) return;
            const bars = chart.getDatasetMeta(i).data;
            const at = (value) => scales.y.getPixelForValue(value);
            pen.fillStyle = palette.ink;
            (ranges[i] ?? []).forEach(([low, high], j) => {
                if (low === null) return;
                const { x } = bars[j];
                pen.fillRect(x - 0.5, at(high), 1, Math.max(1, at(low) - at(high)));
                for (const end of [low, high]) pen.fillRect(x - 3, at(end) - 0.5, 6, 1);
            });
            data.forEach((value, j) => value === null && put("×", palette.muted, bars[j].x, at(0) - 8));
            for (const { column, row, mark } of marks) if (column === i) put("◆", palette.ink, bars[row].x, at(mark));
        });
        pen.restore();
    },
};

/* The range over the seeds of each value of a column, by row; none without seeds. */
const rangesOf = ({ low, high, columns }, order) =>
    (low ? columns.map((_, c) => order.map((row) => [low[row][c], high[row][c]])) : []);

/* `say` formats a value; `under` and `beside` label the axes. */
function optionsFor(say, under, beside) {
    const grid = { color: palette.rule, borderColor: palette.rule };
    const ticks = { color: palette.ink };
    const allLabels = { autoSkip: false, maxRotation: 60 };
    const title = (text) => ({ display: text !== "", text, color: palette.muted });
    const label = ({ dataset, raw }) => `${dataset.label}: ${say(raw?.y ?? raw)}`;
    return {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "index", intersect: false },
        scales: {
            x: { grid: { ...grid, display: false }, ticks: { ...ticks, ...allLabels }, title: title(under) },
            y: { grid, ticks, title: title(beside), beginAtZero: true },
        },
        plugins: { legend: { display: false }, tooltip: { usePointStyle: true, callbacks: { label } }, notes: {} },
    };
}

const lineStyle = (index) => ({
    borderColor: colour(index),
    backgroundColor: colour(index),
    borderWidth: 2,
    borderDash: cyclic(dashes, index),
    pointStyle: cyclic(points, index),
});

/* --- the kinds --- */

function barsChart(figure, sheet, view) {
    const { columns, values } = sheet;
    const order = rowOrder(figure, view);
    const say = formatter(values.flat(), sheet.unit);
    const marks = figure.papers
        .filter((paper) => figure.sheets[paper.sheet] === sheet && paper.mark !== null)
        .map((paper) => ({ ...paper, row: order.indexOf(paper.row) }));
    const isShown = (column) => !view.hidden.has(columns[column]);
    const footer = ([{ dataIndex }]) => [
        ...marks.filter(({ row, column }) => row === dataIndex && isShown(column))
            .map(({ column, mark }) => `◆ published, ${columns[column]}: ${say(mark)}`),
        ...columns.filter((_, c) => isShown(c) && values[order[dataIndex]][c] === null)
            .map((name) => `× ${name}: missing`),
    ];
    const options = optionsFor(say, "", sheet.unit);
    options.plugins.tooltip.callbacks.footer = footer;
    const ranges = rangesOf(sheet, order);
    options.plugins.notes = { means: order.map((row) => sheet.means[row]), neutral: sheet.neutral, marks, ranges };
    options.scales.y.suggestedMin = 1.05 * Math.min(0, ...marks.map(({ mark }) => mark));
    options.scales.y.suggestedMax = 1.05 * Math.max(0, ...marks.map(({ mark }) => mark));
    const datasets = columns.map((name, c) => ({
        label: name,
        data: order.map((row) => values[row][c]),
        hidden: !isShown(c),
        backgroundColor: fill(view.names.indexOf(name)),
        borderRadius: 2,
        categoryPercentage: 0.8,
        barPercentage: 0.95,
    }));
    return { type: "bar", data: { labels: order.map((row) => sheet.rows[row]), datasets }, options, plugins: [notes] };
}

/* One bar per workload and design, grouped by workload; the metrics are its parts. */
function stackChart(figure, view) {
    const [{ rows, columns, means, unit }] = figure.sheets;
    const order = rowOrder(figure, view);
    const shown = columns.map((_, c) => c).filter((c) => !view.hidden.has(columns[c]));
    const bars = order.flatMap((row) => [...shown.map((c) => ({ row, c })), null]); /* null: a gap */
    const say = formatter(figure.sheets.flatMap((sheet) => sheet.values.flat()), unit);
    const options = optionsFor(say, "", unit);
    const { x, y } = options.scales;
    const nameOfBar = ({ row, c }) => `${rows[row]}, ${columns[c]}`;
    options.plugins.tooltip.callbacks.title = ([{ dataIndex }]) => nameOfBar(bars[dataIndex]);
    options.plugins.notes = { means: bars.map((bar) => bar !== null && means[bar.row]) };
    x.stacked = y.stacked = true;
    x.ticks.minRotation = x.ticks.maxRotation = 90;
    options.scales.workloads = {
        type: "category", axis: "x", position: "bottom", offset: true, labels: order.map((row) => rows[row]),
        grid: x.grid, ticks: { color: palette.ink, autoSkip: false },
    };
    const datasets = figure.sheets.map((sheet, part) => ({
        label: sheet.metric,
        data: bars.map((bar) => (bar ? sheet.values[bar.row][bar.c] : undefined)),
        backgroundColor: fill(part),
        categoryPercentage: 0.95,
        barPercentage: 0.95,
    }));
    const labels = bars.map((bar) => (bar ? columns[bar.c] : ""));
    return { type: "bar", data: { labels, datasets }, options, plugins: [notes] };
}

function linesChart(figure, sheet, view) {
    const options = optionsFor(formatter(sheet.values.flat(), sheet.unit), figure.axis, sheet.unit);
    options.plugins.notes = { ranges: rangesOf(sheet, sheet.rows.map((_, row) => row)) };
    const datasets = sheet.columns.map((name, c) => ({
        label: name,
        data: sheet.values.map((row) => row[c]),
        hidden: view.hidden.has(name),
        ...lineStyle(view.names.indexOf(name)),
        ...(sheet.meanColumns[c] ? { borderWidth: 5, pointRadius: 6 } : { pointRadius: 4 }),
    }));
    return { type: "line", data: { labels: sheet.rows, datasets }, options, plugins: [notes] };
}

function seriesChart(lines, view) {
    const options = optionsFor(formatter(lines.flatMap((line) => line.y), ""), "cycles", "");
    options.interaction = { mode: "nearest", axis: "x", intersect: false };
    Object.assign(options.scales.x, { type: "linear", ticks: { color: palette.ink } });
    const datasets = lines.map(({ series, x, y }) => ({
        label: series,
        data: x.map((at, i) => ({ x: at, y: y[i] })),
        hidden: view.hidden.has(series),
        ...lineStyle(view.names.indexOf(series)),
        pointRadius: 0,
    }));
    return { type: "line", data: { datasets }, options };
}

/* --- containers --- */

/* Redraw every chart of the page, and fit it to its box. */
const redraws = [], resizes = [];
for (const event of ["beforeprint", "afterprint"])
    addEventListener(event, () => resizes.forEach((resize) => resize()));

/* A chart with `bars` bars; wide charts scroll on a narrow screen. `configure` returns the current configuration. */
function chartBox(caption, figure, bars, configure) {
    const label = `${caption}. ${figure.finding} The values are in the table below.`;
    const canvas = element("canvas", { role: "img", "aria-label": label });
    const room = element("div.canvas", { style: `min-width: ${Math.max(280, bars * 7)}px` }, canvas);
    const box = element("figure.chart", {}, element("figcaption", {}, caption), scrolling(caption, room));
    let chart = null;
    box.redraw = () => {
        chart?.destroy();
        chart = new Chart(canvas, configure());
    };
    redraws.push(box.redraw);
    resizes.push(() => chart?.resize());
    return box;
}

/* All charts of a figure; none without a chart library. */
function chartsOf(figure, view) {
    if (typeof Chart === "undefined") return [];
    const { kind, sheets, lines } = figure;
    const bars = sheets.length ? sheets[0].rows.length * (sheets[0].columns.length + 1) : 0;
    const each = (count, draw) =>
        sheets.map((sheet) => chartBox(captionOf(sheet), figure, count, () => draw(figure, sheet, view)));
    const kinds = {
        bars: () => each(bars, barsChart),
        lines: () => each(0, linesChart),
        stack: () => [chartBox(figure.title, figure, 2 * bars, () => stackChart(figure, view))],
    };
    const series = (title) =>
        chartBox(title, figure, 0, () => seriesChart(lines.filter((line) => line.title === title), view));
    const own = sheets.length && kinds[kind] ? kinds[kind]() : [];
    return [...own, ...distinct(lines.map((line) => line.title)).map(series)];
}
