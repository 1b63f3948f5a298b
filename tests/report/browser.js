/* Embedded by browser_test.sh after the script of a report: checks the page and writes the results as lines of the
 * element `found`, "ok TEST" or "no TEST: why". `errors` is filled from the head of the page on. */
{
    const found = [];
    const test = (text, failures) =>
        found.push(failures.length ? `no ${text}: ${failures.slice(0, 3).join("; ")}` : `ok ${text}`);
    const all = (selector, root = document) => [...root.querySelectorAll(selector)];
    const { figures } = report;
    const names = (list) => list.map((figure) => figure.name);
    const section = (figure) => document.getElementById(figure.id);
    const canvases = (figure) => all("canvas", section(figure));
    const pictures = (list) => list.map((canvas) => canvas.toDataURL());
    const isBlank = (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.every((byte) => byte === 0);
    };
    const choose = (select, value) => {
        select.value = value;
        select.dispatchEvent(new Event("change"));
    };

    /* --- contents --- */

    const isTold = (figure) =>
        [figure.title, figure.finding].every((text) => section(figure)?.innerText.includes(text));
    test("every figure has a section with title and finding", names(figures.filter((figure) => !isTold(figure))));

    const drawn = figures.filter((figure) => ["bars", "lines", "stack", "series"].includes(figure.kind));
    const hasCharts = (figure) => canvases(figure).length > 0 && !canvases(figure).some(isBlank);
    const hasTable = (figure) => all("table", section(figure)).some((table) => table.offsetHeight > 0);
    test("every figure has a chart or an open table",
        names(figures.filter((figure) => !(drawn.includes(figure) ? hasCharts(figure) : hasTable(figure)))));

    const counts = [all("#headlines tbody tr").length, all("#contents li").length];
    test("the summary and the contents list every figure", counts.filter((count) => count !== figures.length));

    const values = figures.flatMap((figure) => figure.sheets.flatMap((sheet) => sheet.values.flat()));
    const absent = values.filter((value) => value === null).length;
    const told = all("details td.missing").length;
    test("every missing value has a missing cell", absent === told ? [] : [`${told} cells for ${absent} values`]);

    const searched = figures.filter((figure) => figure.choices.length);
    const isChosen = (figure) => figure.choices.every(({ chosen }) =>
        all("details td", section(figure)).some((cell) => cell.textContent === chosen));
    test("the result of a search is in a table",
        searched.length ? names(searched.filter((figure) => !isChosen(figure))) : ["no figure has any"]);

    const captions = all("figcaption").map((caption) => caption.textContent);
    test("a normalised chart names its baseline", captions.includes("IPC, normalised to plain") ? [] : captions);

    const repeated = figures.filter((figure) => figure.sheets.some(({ low }) => low));
    test("values of several seeds have a range in the table and an error bar in the chart",
        repeated.length === 1 ? repeated.flatMap((figure) => {
            const shown = all("details td .range", section(figure)).length;
            const values = figure.sheets.flatMap(({ low }) => low.flat().filter((value) => value !== null)).length;
            const bars = canvases(figure).map((canvas) => Chart.getChart(canvas).options.plugins.notes.ranges.flat().length);
            const isTold = section(figure).innerText.includes("range over the seeds");
            const isGood = shown === values && values > 0 && Math.min(...bars) > 0 && isTold;
            return isGood ? [] : [`${shown} ranges of ${values} values, bars ${bars}, key ${isTold}`];
        }) : [`${repeated.length} figures have seeds`]);

    const lines = figures.filter((figure) => figure.kind === "lines");
    test("every workload has a line, and the mean is a wider one", lines.flatMap((figure) => {
        const { datasets } = Chart.getChart(canvases(figure)[0]).data;
        const wide = datasets.filter(({ borderWidth }) => borderWidth > 2).map(({ label }) => label);
        const isGood = datasets.length > wide.length && wide.length > 0 && wide.every((label) => label.endsWith("mean"));
        return isGood ? [] : [`${figure.name}: ${wide} of ${datasets.map(({ label }) => label)}`];
    }));

    const isVisible = (node) => node.getBoundingClientRect().right <= innerWidth && node.offsetWidth > 0;
    const verdicts = all(".verdict");
    test("every verdict is visible without scrolling sideways",
        verdicts.length ? verdicts.filter((node) => !isVisible(node)).map((node) => node.textContent) : ["there is none"]);

    /* --- controls --- */

    const toggled = drawn.filter((figure) => all(".toggle", section(figure)).length);
    test("there are designs to toggle", toggled.length ? [] : ["no figure has any"]);
    test("toggling a design changes the chart, and toggling it again restores it", toggled.flatMap((figure) => {
        const [toggle] = all(".toggle", section(figure));
        const before = pictures(canvases(figure)).join();
        toggle.click();
        const pressed = toggle.getAttribute("aria-pressed");
        const without = pictures(canvases(figure)).join();
        toggle.click();
        const isGood = without !== before && pressed === "false" && pictures(canvases(figure)).join() === before;
        return isGood ? [] : [figure.name];
    }));

    const bars = figures.filter((figure) => figure.kind === "bars");
    test("a hidden design has no bars", bars.flatMap((figure) => {
        const [toggle] = all(".toggle", section(figure));
        toggle.click();
        const left = Chart.getChart(canvases(figure)[0]).getVisibleDatasetCount();
        toggle.click();
        return left === figure.sheets[0].columns.length - 1 ? [] : [`${figure.name}: ${left} are left`];
    }));

    test("workloads can be sorted by a design, with means last", bars.flatMap((figure) => {
        const [{ columns, rows, means }] = figure.sheets;
        const [select] = all("select", section(figure));
        choose(select, columns.at(-1));
        const { labels, datasets } = Chart.getChart(canvases(figure)[0]).data;
        choose(select, "");
        const count = means.filter((isMean) => !isMean).length;
        const sorted = datasets.at(-1).data.slice(0, count).map((value) => value ?? -Infinity);
        const isGood = sorted.every((value, i) => i === 0 || value <= sorted[i - 1]) &&
            labels.slice(count).join() === rows.filter((_, row) => means[row]).join();
        return isGood ? [] : [`${figure.name}: ${labels}`];
    }));

    /* --- accessibility --- */

    const ground = () => getComputedStyle(document.body).backgroundColor;
    const before = { ground: ground(), pictures: pictures(all("canvas")) };
    document.getElementById("theme").click();
    const isOther =
        ground() !== before.ground && pictures(all("canvas")).every((picture, i) => picture !== before.pictures[i]);
    document.getElementById("theme").click();
    const isBack = ground() === before.ground;
    test("the button switches between light and dark", isOther && isBack ? [] : [ground()]);

    const source = (list) => list.map((node) => node.outerHTML);
    const clickable = all("button, select, summary, a[href], .scroll, pre[tabindex]");
    test("all controls are reachable by keyboard", source(clickable.filter((node) => node.tabIndex < 0)));
    const unnamed = all("canvas[role=img], [role=group], nav").filter((node) => !node.getAttribute("aria-label"));
    test("charts and groups have labels for screen readers", source(unnamed));
    const isAimless = (link) => !document.getElementById(link.getAttribute("href").slice(1));
    test("links within the page have targets", source(all("a[href^='#']").filter(isAimless)));
    const width = document.documentElement.scrollWidth;
    test("the content fits the width of the page", width <= innerWidth ? [] : [`${width} pixels of ${innerWidth}`]);
    test("the page loads no resources", performance.getEntriesByType("resource").map((entry) => entry.name));
    test("there are no errors", errors);

    const list = document.createElement("pre");
    list.id = "found";
    list.textContent = `\n${found.join("\n")}\n`;
    document.body.append(list);
}
