# The tables and the plot of bench/correlate. Reads, in this order and separated by tabs: the selected rows (machine, kernel), the reference (machine, kernel,
# column, value), ours (machine, kernel, counter, value). Variables: check (1: exit status 1 if a bound is exceeded), svg (file to write).

function ours(row, names,   list, i, total) {
    for (i = split(names, list, " "); i > 0; i--) total += mine[row, "stats." list[i]]
    return total + 0
}
function theirs(row, names,   list, i, total) {
    for (i = split(names, list, " "); i > 0; i--) total += reference[row, list[i]]
    return total + 0
}
function abs(x) { return x < 0 ? -x : x }
function ratio(a, b) { return b ? a / b - 1 : a ? 1 : 0 }
function share(a, b, whole) { return whole ? (a - b) / whole : 0 }
function broken(row, what) { failures = failures sprintf("%s: %s\n", row, what); failed++ }
function log10(x) { return log(x) / log(10) }

# Correlation of the logarithms of both simulators' counters over a machine's rows; rows with a zero are excluded.
function correlation(machine, what,   i, n, x, y, sx, sy, sxx, syy, sxy, d) {
    for (i = 1; i <= rows; i++) {
        if (machine_of[i] != machine || value[i, what, 0] <= 0 || value[i, what, 1] <= 0) continue
        x = log10(value[i, what, 0]); y = log10(value[i, what, 1])
        n++; sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
    }
    d = (n * sxx - sx * sx) * (n * syy - sy * sy)
    return n > 2 && d > 1e-12 ? sprintf("%.4f", (n * sxy - sx * sy) / sqrt(d)) : "-"
}

FILENAME != last { last = FILENAME; file++ }
file == 1 { machine_of[++rows] = $1; kernel_of[rows] = $2; next }
file == 2 { reference[$1 "\t" $2, $3] = $4; next }
{ mine[$1 "\t" $2, $3] = $4 }

# One panel of the plot.
function panel(k, title, what,   i, low, high, x0, y0, size, step, e, m, colour, px, py) {
    low = 1e18; high = 1; size = 300; x0 = 60 + k * 380; y0 = 40
    for (i = 1; i <= rows; i++) for (m = 0; m < 2; m++) {
        if (value[i, what, m] <= 0) continue
        if (value[i, what, m] < low) low = value[i, what, m]
        if (value[i, what, m] > high) high = value[i, what, m]
    }
    if (low > high) return
    low = int(log10(low)); high = int(log10(high)) + 1; step = size / (high - low)
    printf "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", x0, y0 - 12, title > svg
    printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", x0, y0, size, size > svg
    printf "<path d=\"M%d %dL%d %d\" stroke=\"#bbb\"/>\n", x0, y0 + size, x0 + size, y0 > svg
    for (e = low; e <= high; e++) {
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">10<tspan dy=\"-4\" font-size=\"8\">%d</tspan></text>\n", x0 + (e - low) * step, y0 + size + 16, e > svg
        printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-4\" font-size=\"8\">%d</tspan></text>\n", x0 - 6, y0 + size - (e - low) * step + 4, e > svg
    }
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">reference</text>\n", x0 + size / 2, y0 + size + 34 > svg
    printf "<text transform=\"translate(%d %d) rotate(-90)\" text-anchor=\"middle\">Sluice</text>\n", x0 - 36, y0 + size / 2 > svg
    for (i = 1; i <= rows; i++) {
        if (value[i, what, 0] <= 0 || value[i, what, 1] <= 0) continue
        px = x0 + (log10(value[i, what, 1]) - low) * step; py = y0 + size - (log10(value[i, what, 0]) - low) * step
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\" fill-opacity=\"0.7\"><title>%s on %s: %d, reference %d</title></circle>\n",
            px, py, colour_of[machine_of[i]], kernel_of[i], machine_of[i], value[i, what, 0], value[i, what, 1] > svg
    }
}

function plot(   i) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1180\" height=\"420\" font-family=\"sans-serif\" font-size=\"11\">\n" > svg
    printf "<rect width=\"1180\" height=\"420\" fill=\"#fff\"/>\n" > svg
    panel(0, "cycles", "cycles"); panel(1, "L1 read misses", "l1_miss"); panel(2, "L2 misses", "l2_miss")
    for (i = 1; i <= machines; i++) {
        printf "<circle cx=\"%d\" cy=\"405\" r=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"409\">%s</text>\n", 60 + i * 110, colour_of[machine[i]], 68 + i * 110, machine[i] > svg
    }
    printf "</svg>\n" > svg
    close(svg)
}

END {
    split("#1f77b4 #d62728 #2ca02c #9467bd #ff7f0e #17becf", colours, " ")
    printf "%-9s %-13s %9s %9s %7s  %5s %8s  %16s %7s %16s %7s %19s %7s %17s\n", "machine", "kernel", "cycles", "reference", "error", "instr", "L1 acc.",
        "L1 misses", "of acc.", "L2 misses", "of acc.", "DRAM read B", "error", "DRAM written B"
    for (i = 1; i <= rows; i++) {
        m = machine_of[i]; row = m "\t" kernel_of[i]; name = kernel_of[i] " on " m
        if (!(m in colour_of)) { machine[++machines] = m; colour_of[m] = colours[(machines - 1) % 6 + 1] }
        value[i, "cycles", 0] = mine[row, "cycles"]; value[i, "cycles", 1] = theirs(row, "cycles")
        value[i, "l1_miss", 0] = ours(row, "l1.read_misses"); value[i, "l1_miss", 1] = theirs(row, "l1_read_miss")
        value[i, "l2_miss", 0] = ours(row, "llc.read_misses llc.atomic_misses llc.write_misses"); value[i, "l2_miss", 1] = theirs(row, "l2_read_miss l2_write_miss")
        value[i, "dram", 0] = ours(row, "dram.read_bytes"); value[i, "dram", 1] = theirs(row, "dram_read_bytes")
        cycles = ratio(value[i, "cycles", 0], value[i, "cycles", 1])
        same = mine[row, "warp_instructions"] == theirs(row, "warp_insn") && mine[row, "thread_instructions"] == theirs(row, "thread_insn")
        reads = theirs(row, "l1_read_access"); l2 = theirs(row, "l2_read_access l2_write_access")
        equal = ours(row, "l1.read_hits l1.read_pending_hits l1.read_misses l1.read_bypasses") == reads && ours(row, "l1.write_hits l1.write_misses") == theirs(row, "l1_write_access")
        l1_off = share(value[i, "l1_miss", 0], value[i, "l1_miss", 1], reads); l2_off = share(value[i, "l2_miss", 0], value[i, "l2_miss", 1], l2)
        dram = ratio(value[i, "dram", 0], value[i, "dram", 1])
        printf "%-9s %-13s %9d %9d %+6.1f%%  %5s %8s  %7d %8d %+6.1f%% %7d %8d %+6.1f%% %9d %9d %+6.1f%% %8d %8d\n", m, kernel_of[i], value[i, "cycles", 0], value[i, "cycles", 1],
            100 * cycles, same ? "equal" : "DIFF", equal ? "equal" : "DIFF", value[i, "l1_miss", 0], value[i, "l1_miss", 1], 100 * l1_off, value[i, "l2_miss", 0],
            value[i, "l2_miss", 1], 100 * l2_off, value[i, "dram", 0], value[i, "dram", 1], 100 * dram, ours(row, "dram.write_bytes"), theirs(row, "dram_write_bytes")
        n[m]++; sum[m] += abs(cycles); if (abs(cycles) > worst[m]) { worst[m] = abs(cycles); worst_kernel[m] = kernel_of[i] }
        l1_sum[m] += abs(l1_off); l2_sum[m] += abs(l2_off); dram_sum[m] += abs(dram)
        if (mine[row, "check"] == "failed") broken(name, "the results are wrong")
        if (!same) broken(name, "instruction counts differ")
        if (!equal) broken(name, "L1 accesses differ")
        if (abs(l1_off) > 0.05) broken(name, sprintf("L1 misses are %.1f %% of accesses off", 100 * l1_off))
        if (abs(l2_off) > 0.05) broken(name, sprintf("L2 misses are %.1f %% of accesses off", 100 * l2_off))
        if (abs(dram) > 0.05) broken(name, sprintf("DRAM reads are %.1f %% off", 100 * dram))
        if (abs(cycles) > 0.20) broken(name, sprintf("cycles are %.1f %% off", 100 * cycles))
    }
    printf "\n%-9s %7s %28s %26s %14s %14s %14s %12s %12s %12s\n", "machine", "kernels", "mean |error| of cycles", "largest", "L1 misses", "L2 misses", "DRAM reads", "r(cycles)", "r(L1 miss)", "r(L2 miss)"
    for (k = 1; k <= machines; k++) {
        m = machine[k]
        printf "%-9s %7d %27.1f%% %12s %12.1f%% %13.2f%% %13.2f%% %13.2f%% %12s %12s %12s\n", m, n[m], 100 * sum[m] / n[m], worst_kernel[m], 100 * worst[m], 100 * l1_sum[m] / n[m],
            100 * l2_sum[m] / n[m], 100 * dram_sum[m] / n[m], correlation(m, "cycles"), correlation(m, "l1_miss"), correlation(m, "l2_miss")
        if (sum[m] / n[m] > 0.07) broken(m, sprintf("cycles are %.1f %% off on average", 100 * sum[m] / n[m]))
    }
    print "r: correlation of the logarithms over the machine's kernels."
    plot()
    if (check && failed) { printf "\n%s", failures; exit 1 }
}
