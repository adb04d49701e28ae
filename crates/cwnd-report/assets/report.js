// What the page does beyond what it says: switch colours, sort and copy tables, zoom into samples.
'use strict';
(() => {
  const root = document.documentElement;
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  root.classList.add('js');

  // Colours: the system's, until the reader says otherwise.
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme || (dark.matches ? 'dark' : 'light')) === 'dark';
  const charts = [];
  const recolour = () => charts.forEach(draw => draw());
  const theme = make('button', { type: 'button', className: 'theme' });
  const label = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; theme.title = 'Switch the colours of the page'; };
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    label();
    recolour();
  });
  dark.addEventListener('change', () => { label(); recolour(); });
  label();
  document.querySelector('nav .inner').append(theme);

  const copy = (text, button) => {
    const said = button.textContent;
    const done = word => {
      button.textContent = word;
      setTimeout(() => { button.textContent = said; }, 1200);
    };
    const fallback = () => {
      const area = make('textarea', { value: text, className: 'offscreen' });
      document.body.append(area);
      area.select();
      const copied = document.execCommand('copy');
      area.remove();
      done(copied ? 'Copied' : 'Not copied');
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => done('Copied'), fallback);
    else fallback();
  };
  const tool = (text, act) => {
    const button = make('button', { type: 'button', textContent: text });
    button.addEventListener('click', () => act(button));
    return button;
  };

  for (const pre of document.querySelectorAll('pre.command'))
    pre.after(make('p', { className: 'tools' }, tool('Copy the command', b => copy(pre.textContent, b))));

  // Tables.
  const text = cell => cell.textContent.replace(/\s+/g, ' ').trim();
  const grid = table => {
    const rows = [...table.rows];
    const taken = rows.map(() => []);
    rows.forEach((row, r) => [...row.cells].forEach(cell => {
      let c = 0;
      while (taken[r][c] !== undefined) c += 1;
      for (let i = 0; i < cell.rowSpan; i += 1)
        for (let j = 0; j < cell.colSpan; j += 1) taken[r + i][c + j] = i === 0 || cell.rowSpan === 1 ? text(cell) : '';
    }));
    const heads = table.tHead.rows.length;
    const joined = taken.slice(0, heads).reduce((all, row) => all.map((word, c) => `${word} ${row[c]}`.trim()));
    return [joined, ...taken.slice(heads)];
  };
  const latex = word => word.replace(/\\/g, '\\textbackslash ').replace(/[&%$#_{}]/g, '\\$&')
    .replace(/~/g, '\\textasciitilde ').replace(/\^/g, '\\textasciicircum ').replace(/±/g, '$\\pm$').replace(/\u2212/g, '$-$');
  const formats = {
    TSV: rows => rows.map(row => row.map(w => w.replace(/\u2212/g, '-')).join('\t')).join('\n') + '\n',
    Markdown: rows => {
      const line = row => `| ${row.map(w => w.replace(/\|/g, '\\|')).join(' | ')} |`;
      return [line(rows[0]), line(rows[0].map(() => '---')), ...rows.slice(1).map(line)].join('\n') + '\n';
    },
    LaTeX: rows => {
      const line = row => `  ${row.map(latex).join(' & ')} \\\\`;
      return [`\\begin{tabular}{${'l'.repeat(rows[0].length)}}`, '  \\hline', line(rows[0]), '  \\hline',
        ...rows.slice(1).map(line), '  \\hline', '\\end{tabular}'].join('\n') + '\n';
    },
  };
  for (const table of document.querySelectorAll('figure.table table')) {
    const tools = make('p', { className: 'tools' }, 'Copy as ');
    for (const [name, format] of Object.entries(formats)) tools.append(tool(name, b => copy(format(grid(table)), b)));
    table.parentElement.after(tools);

    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.querySelectorAll('th[data-sort]')];
    // Headings that span both rows come first in a row, as their cells do.
    const first = heads.filter(h => h.rowSpan > 1);
    const order = first.length ? [...first, ...heads.filter(h => h.rowSpan === 1)] : heads;
    order.forEach((head, column) => {
      const button = make('button', { type: 'button', className: 'sort' });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const before = head.getAttribute('aria-sort');
        const next = before === 'ascending' ? 'descending' : before === 'descending' ? null : 'ascending';
        heads.forEach(h => h.removeAttribute('aria-sort'));
        if (next) head.setAttribute('aria-sort', next);
        body.classList.toggle('sorted', Boolean(next));
        const value = row => {
          const cell = row.cells[column];
          return cell.dataset.v !== undefined ? Number(cell.dataset.v) : text(cell);
        };
        const isNone = v => v === '' || v === '\u2013';
        const compare = (a, b) => {
          const [x, y] = [value(a), value(b)];
          // What is not there stays at the end, whichever way.
          if (isNone(x) || isNone(y)) return isNone(x) - isNone(y);
          const by = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
          return next === 'descending' ? -by : by;
        };
        body.append(...(next ? [...original].sort(compare) : original));
      });
    });
  }

  // Samples over time.
  const numbers = ({ q, d }) => {
    let sum = 0;
    const digits = Math.max(0, -Math.round(Math.log10(q)));
    return d.map(step => {
      if (step === null) return null;
      sum += step;
      return Number((sum * q).toFixed(digits));
    });
  };
  const variable = name => getComputedStyle(root).getPropertyValue(name).trim();
  const colour = line => variable(line.colour < 0 ? '--fig-ink' : `--s${line.colour}`);

  const explore = (place, data) => {
    const plots = [];
    let range = null;
    let busy = false;
    const show = (min, max, from) => {
      if (busy) return;
      busy = true;
      range = { min, max };
      for (const plot of plots) if (plot !== from) plot.setScale('x', range);
      busy = false;
    };
    const sync = uPlot.sync(place.dataset.samples);
    const font = `11px ${getComputedStyle(document.body).getPropertyValue('--sans') || 'sans-serif'}`;
    // A value that is stated, as a dashed line with its label.
    const stated = (u, line, font) => {
      const { ctx, bbox } = u;
      const at = u.valToPos(line.at, line.axis, true);
      const [start, length] = line.axis === 'x' ? [bbox.left, bbox.width] : [bbox.top, bbox.height];
      if (!(at >= start && at <= start + length)) return;
      const end = { x: bbox.left + bbox.width, y: bbox.top + bbox.height };
      const scale = devicePixelRatio || 1;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = line.colour < 0 ? variable('--fig-grey') : colour(line);
      ctx.lineWidth = scale;
      ctx.setLineDash([3 * scale, 2 * scale]);
      ctx.beginPath();
      if (line.axis === 'x') { ctx.moveTo(at, bbox.top); ctx.lineTo(at, end.y); } else { ctx.moveTo(bbox.left, at); ctx.lineTo(end.x, at); }
      ctx.stroke();
      ctx.font = font.replace('11px', `${11 * scale}px`);
      ctx.textBaseline = 'top';
      ctx.textAlign = 'left';
      const width = ctx.measureText(line.label).width;
      const gap = 3 * scale;
      if (line.axis === 'x') ctx.fillText(line.label, at + gap + width > end.x ? at - gap - width : at + gap, bbox.top + gap);
      else ctx.fillText(line.label, end.x - gap - width, at - gap - 11 * scale < bbox.top ? at + gap : at - gap - 11 * scale);
      ctx.restore();
    };
    const chart = (host, times, panel, height) => {
      const axis = () => ({
        stroke: variable('--fig-ink'), font, labelFont: font, labelSize: 18, ticks: { stroke: variable('--fig-grid'), width: 1 },
        grid: { stroke: variable('--fig-grid'), width: 1 },
      });
      const series = panel.lines.map(line => ({
        label: line.name, stroke: colour(line), width: 1.2, dash: line.dash, points: { show: false }, spanGaps: false,
        value: (_, v) => (v === null || v === undefined ? '\u2013' : v.toLocaleString('en')),
      }));
      const plot = new uPlot({
        width: host.clientWidth, height,
        scales: { x: { time: false }, y: { range: (_, low, high) => {
          // Above a stated line there is room for its label.
          const most = Math.max(high, ...panel.stated.filter(line => line.axis === 'y').map(line => line.at * 1.1));
          return [Math.min(0, low), most > 0 ? most * 1.04 : 1];
        } } },
        series: [{ label: 'time', value: (_, v) => (v === null || v === undefined ? '\u2013' : `${v.toFixed(2)} s`) }, ...series],
        axes: [{ ...axis(), size: 30 }, { ...axis(), label: panel.label, size: 62, values: (_, all) => all.map(v => v.toLocaleString('en')) }],
        cursor: { sync: { key: sync.key, setSeries: true, scales: ['x', null], filters: { pub: type => type === 'mousemove' || type === 'mouseleave' } },
          drag: { x: true, y: false }, focus: { prox: 24 } },
        focus: { alpha: 0.35 },
        hooks: {
          setScale: [(u, key) => { if (key === 'x') show(u.scales.x.min, u.scales.x.max, u); }],
          draw: [u => panel.stated.forEach(line => stated(u, line, font))],
        },
      }, [times, ...panel.lines.map(line => numbers(line.v))], host);
      sync.sub(plot);
      return plot;
    };
    const draw = () => {
      const kept = range;
      const hidden = plots.map(plot => plot.series.map(s => s.show));
      plots.splice(0).forEach(plot => { sync.unsub(plot); plot.destroy(); });
      place.replaceChildren();
      range = null;
      const bar = make('p', { className: 'tools' },
        tool('Whole time', () => plots.forEach(plot => plot.setScale('x', { min: plot.data[0][0], max: plot.data[0][plot.data[0].length - 1] }))),
        ' Drag to zoom, double-click for the whole time, click a name to hide its line.');
      const blocks = make('div', { className: 'blocks' });
      place.append(bar, blocks);
      // All places first: how many there are decides how wide each is.
      const hosts = data.blocks.map(block => {
        const host = make('div', { className: 'block' });
        if (block.title) host.append(make('h4', { textContent: block.title }));
        return host;
      });
      blocks.append(...hosts);
      for (const [i, block] of data.blocks.entries()) {
        const host = hosts[i];
        const times = numbers(block.t);
        if (times.length < 2) { host.append(make('p', { textContent: 'No samples.' })); continue; }
        block.panels.forEach((panel, p) => plots.push(chart(host, times, panel, p === 0 ? 230 : 160)));
      }
      if (kept) show(kept.min, kept.max, null);
      hidden.forEach((shown, i) => shown.forEach((s, j) => { if (!s && j > 0) plots[i].setSeries(j, { show: false }); }));
    };
    draw();
    return { draw, plots };
  };

  for (const place of document.querySelectorAll('.zoom[data-samples]')) {
    const figure = place.closest('figure');
    let opened = null;
    const button = tool('Zoom in', () => {
      if (!opened) {
        figure.classList.add('zooming');
        opened = explore(place, JSON.parse(document.getElementById(place.dataset.samples).textContent));
        charts.push(opened.draw);
      } else {
        figure.classList.toggle('zooming');
      }
      button.textContent = figure.classList.contains('zooming') ? 'Show the figure' : 'Zoom in';
    });
    place.before(make('p', { className: 'tools' }, button));
    if (location.hash === '#zoom') button.click();
  }
  let pending = 0;
  addEventListener('resize', () => { clearTimeout(pending); pending = setTimeout(recolour, 150); });

  // The contents show where the reader is.
  if ('IntersectionObserver' in window) {
    const links = new Map([...document.querySelectorAll('nav li > a')].map(a => [a.getAttribute('href').slice(1), a]));
    const seen = new Set();
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) (entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target));
      const first = [...document.querySelectorAll('main section, main figure[id]')].filter(e => seen.has(e)).pop();
      for (const link of links.values()) link.removeAttribute('aria-current');
      if (first && links.has(first.id)) links.get(first.id).setAttribute('aria-current', 'true');
    }, { rootMargin: '-10% 0px -75% 0px' });
    for (const id of links.keys()) {
      const target = document.getElementById(id);
      if (target) observer.observe(target);
    }
  }
})();
