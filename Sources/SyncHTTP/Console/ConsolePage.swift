// swift-format-ignore-file

/// The files of `Sources/SyncHTTP/Console/Page`, which browsers get. Made by `Scripts/embed-console`; a test compares.
enum ConsolePage {
    static let html = ##"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>CipherStore</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e7f'/%3E%3Cpath d='M4 6.5a4 4 0 0 1 7.4-1M12 9.500a4 4 0 0 1-7.400 1M11.700 3v2.700H9M4.300 13v-2.700H7' fill='none' stroke='%23fff' stroke-width='1.500'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/console/page.css">
<script src="/console/page.js" defer></script>
</head>
<body>
<header>
  <div>
    <p class="brand">CipherStore</p>
    <h1 id="name">Server</h1>
    <p id="about" class="muted"></p>
  </div>
  <div class="connection">
    <p id="connection" role="status" aria-live="polite" class="state quiet">Connecting</p>
    <button id="retry" type="button" hidden>Try now</button>
    <button id="end" type="button" hidden>End session</button>
  </div>
</header>
<nav id="stores" aria-label="Stores" hidden></nav>

<main>
  <noscript><section class="card help"><h2>This page needs JavaScript</h2><p>It runs a script of this server, and nothing else.</p></section></noscript>

  <section id="help" class="card help" hidden>
    <h2 id="help-title">This page opens with a link</h2>
    <p id="help-text"></p>
    <ol>
      <li>On the server's machine, run <code>syncctl console hub.db</code>, with the path of your store.</li>
      <li>Open the link that it prints. It works once, for ten minutes.</li>
    </ol>
  </section>

  <div id="content" hidden>
    <section aria-labelledby="summary-title">
      <h2 id="summary-title" class="unseen">Summary</h2>
      <dl id="tiles" class="tiles"></dl>
    </section>

    <section class="card" aria-labelledby="devices-title">
      <div class="heading"><h2 id="devices-title">Devices</h2><p id="devices-note" class="muted"></p></div>
      <div id="devices"></div>
    </section>

    <section class="card" aria-labelledby="traffic-title">
      <div class="heading">
        <h2 id="traffic-title">Throughput</h2>
        <p class="legend"><span class="key sent"></span>to devices <span class="key received"></span>from devices</p>
      </div>
      <div id="charts" class="charts"></div>
    </section>

    <section class="card" aria-labelledby="conflicts-title">
      <div class="heading"><h2 id="conflicts-title">Conflicts</h2><p id="conflicts-note" class="muted"></p></div>
      <div id="conflicts"></div>
    </section>

    <section class="card" aria-labelledby="parked-title">
      <div class="heading"><h2 id="parked-title">Rows that wait</h2><p id="parked-note" class="muted"></p></div>
      <div id="parked"></div>
    </section>

    <div class="pair">
      <section class="card" aria-labelledby="tables-title">
        <div class="heading"><h2 id="tables-title">Tables</h2><p id="tables-note" class="muted"></p></div>
        <div id="tables"></div>
      </section>
      <section class="card" aria-labelledby="peers-title">
        <h2 id="peers-title">Other replicas</h2>
        <div id="peers"></div>
        <div id="remotes"></div>
      </section>
    </div>
  </div>

  <dialog id="conflict" aria-labelledby="conflict-title">
    <div class="heading"><h2 id="conflict-title"></h2><button id="conflict-close" type="button">Close</button></div>
    <div id="conflict-body"></div>
    <p id="conflict-problem" class="problem" role="alert" hidden></p>
    <div id="conflict-actions" class="actions"></div>
  </dialog>
</main>
<footer class="muted">All of this comes from this server and from nowhere else. Times are those of this browser's zone.</footer>
</body>
</html>

"""##
    static let css = ##"""
:root {
  --ground: #f4f6f8;
  --surface: #ffffff;
  --ink: #19212b;
  --muted: #5a6675;
  --line: #dde3ea;
  --accent: #0b6e7f;
  --accent-soft: #d8ecef;
  --second: #b06a12;
  --good: #17753a;
  --warn: #8a5a00;
  --bad: #b3261e;
  --mono: ui-monospace, "SFMono-Regular", "Cascadia Mono", "DejaVu Sans Mono", monospace;
}

@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1318;
    --surface: #171d24;
    --ink: #e3e9f0;
    --muted: #95a2b2;
    --line: #2a333e;
    --accent: #4fb3c6;
    --accent-soft: #17343b;
    --second: #e0a458;
    --good: #5fc886;
    --warn: #e2b04a;
    --bad: #f28b82;
  }
}

* { box-sizing: border-box; }
[hidden] { display: none !important; }

body {
  margin: 0 auto;
  padding: 1.5rem clamp(0.75rem, 3vw, 2.5rem) 2rem;
  max-width: 84rem;
  background: var(--ground);
  color: var(--ink);
  font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}

h1, h2, p, dl, dd, ol { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.2; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 1rem; }
.muted, caption, th { color: var(--muted); }
.mono { font-family: var(--mono); font-size: 0.875em; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

code {
  font-family: var(--mono);
  font-size: 0.875em;
  padding: 0.1em 0.35em;
  border-radius: 0.25rem;
  background: var(--accent-soft);
  overflow-wrap: anywhere;
}

button {
  font: inherit;
  font-size: 0.875rem;
  padding: 0.25rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--surface);
  color: inherit;
  cursor: pointer;
}
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

header { display: flex; flex-wrap: wrap; gap: 0.75rem 2rem; justify-content: space-between; align-items: flex-start; margin-bottom: 1.25rem; }
.brand { font-size: 0.75rem; font-weight: 600; letter-spacing: 0.08em; text-transform: uppercase; color: var(--accent); }
.connection { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
nav { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin-bottom: 1rem; }
a { color: var(--accent); }
a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
footer { margin-top: 1.5rem; font-size: 0.8125rem; }

/* A state is a word; the dot and its colour only repeat it. */
.state { display: inline-flex; align-items: baseline; gap: 0.4rem; white-space: nowrap; }
.state::before { content: ""; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: currentColor; flex: none; }
.state.good { color: var(--good); }
.state.warn { color: var(--warn); }
.state.bad { color: var(--bad); }
.state.quiet { color: var(--muted); }
.state.quiet::before { background: none; border: 1.5px solid currentColor; }
#connection { padding: 0.2rem 0.7rem; border: 1px solid var(--line); border-radius: 2rem; background: var(--surface); font-size: 0.875rem; }

.card { background: var(--surface); border: 1px solid var(--line); border-radius: 0.625rem; padding: 1rem 1.125rem; margin-bottom: 1rem; }
.heading { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; justify-content: space-between; align-items: baseline; }
.help { max-width: 42rem; padding: 1.5rem; }
.help p, .help ol { margin-top: 0.75rem; }
.help ol { padding-left: 1.25rem; }
.help li { margin-bottom: 0.375rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 1rem; align-items: start; }
.lost #content { opacity: 0.55; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(10.5rem, 45%), 1fr)); gap: 0.75rem; margin-bottom: 1rem; }
.tile { position: relative; overflow: hidden; background: var(--surface); border: 1px solid var(--line); border-radius: 0.625rem; padding: 0.75rem 0.875rem; }
.tile dt { color: var(--muted); font-size: 0.8125rem; }
.tile .value { font-size: 1.5rem; line-height: 1.3; font-weight: 600; letter-spacing: -0.01em; }
.tile .detail { color: var(--muted); font-size: 0.8125rem; min-height: 1.45em; }
.tile.warn .value { color: var(--warn); }
.tile svg { position: absolute; right: 0; bottom: 0; width: 50%; height: 38%; opacity: 0.4; }

table { width: 100%; border-collapse: collapse; margin-top: 0.5rem; }
th { text-align: left; font-weight: 500; font-size: 0.8125rem; padding: 0.375rem 1rem 0.375rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: 0.45rem 1rem 0.45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; min-width: 5.5rem; }
td.wide { width: 40%; }
tr:last-child td { border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
th.number, td.number { text-align: right; white-space: nowrap; }
td.short, td.short time { white-space: nowrap; }
td .sub { display: block; color: var(--muted); font-size: 0.8125rem; }
tr.off td { color: var(--muted); }
.value-text { font-family: var(--mono); font-size: 0.875em; white-space: pre-wrap; }
.empty { margin-top: 0.5rem; color: var(--muted); }
.bar { display: block; width: 7rem; max-width: 100%; height: 0.25rem; margin-top: 0.25rem; }
.bar rect { fill: var(--accent-soft); }
.bar .full { fill: var(--accent); }
.bar .late { fill: var(--warn); }
@media (prefers-reduced-motion: no-preference) { tr.new { animation: new 2s ease-out; } }
@keyframes new { from { color: var(--accent); background: color-mix(in srgb, var(--accent-soft) 45%, transparent); } }

dialog { width: min(58rem, calc(100vw - 2rem)); max-height: calc(100vh - 3rem); overflow: auto; padding: 1.25rem; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); color: inherit; }
dialog::backdrop { background: rgb(0 0 0 / 0.5); }
dialog h2, dialog h3 { overflow-wrap: anywhere; }
h3 { margin: 1rem 0 0; font-size: 0.875rem; }
pre { margin: 0.375rem 0; padding: 0.5rem 0.625rem; max-height: 16rem; overflow: auto; overflow-wrap: anywhere; background: var(--ground); border: 1px solid var(--line); border-radius: 0.375rem; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 0 1.25rem; }
.sides + p, dialog p + p { margin-top: 0.5rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 1.25rem; }
.problem { margin-top: 1rem; color: var(--bad); }
button:disabled { opacity: 0.5; cursor: default; }

.legend { display: flex; align-items: center; gap: 0.4rem; color: var(--muted); font-size: 0.8125rem; }
.key { width: 0.75rem; height: 0.5rem; border-radius: 2px; }
.key.sent { background: var(--accent); }
.key.received { background: var(--second); margin-left: 0.6rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1rem 2rem; margin-top: 0.5rem; }
.chart figcaption, .chart .axis { display: flex; justify-content: space-between; color: var(--muted); font-size: 0.8125rem; }
.chart svg { display: block; width: 100%; height: 7.5rem; margin: 0.25rem 0; }
figure { margin: 0; }
svg .sent { fill: var(--accent); }
svg .received { fill: var(--second); }
svg .zero { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }

@media (max-width: 44rem) {
  /* Each row becomes a list of its cells, with their headings. */
  .stacks, .stacks tbody, .stacks tr, .stacks td { display: block; width: 100%; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacks tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  .stacks tr:last-child { border-bottom: 0; padding-bottom: 0; }
  .stacks td, .stacks td.wide { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0.5rem; align-items: baseline; padding: 0.1rem 0; border: 0; text-align: left; white-space: normal; }
  .stacks td::before { content: attr(data-label); color: var(--muted); font-size: 0.8125rem; }
  .stacks td.none { display: none; }
  .stacks td:first-child { font-weight: 600; }
  .stacks td:first-child .sub { font-weight: 400; }
  #connection { white-space: normal; }
}

"""##
    static let script = ##"""
'use strict'
// The page of a served store. What it shows is put in as text only, never as markup.
{
  const byId = id => document.getElementById(id)
  const svgSpace = 'http://www.w3.org/2000/svg'

  // MARK: Text

  // Characters that are not seen, or that turn the text around, are shown as their numbers.
  const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
  const visible = text =>
    String(text).replace(hidden, c => '\\u{' + c.codePointAt(0).toString(16) + '}')
  // The same for a text of its own, which may have lines.
  const visibleLines = text => String(text).split('\n').map(visible).join('\n')

  const count = number => Number(number).toLocaleString('en')
  const counted = (number, noun) => count(number) + ' ' + noun + (number === 1 ? '' : 's')

  function bytes(number) {
    let [amount, unit] = [number, 'B']
    for (const larger of ['KiB', 'MiB', 'GiB', 'TiB']) {
      if (amount < 1000) break
      amount /= 1024
      unit = larger
    }
    return (amount >= 99.95 || unit === 'B' ? String(Math.round(amount)) : amount.toFixed(1)) + ' ' + unit
  }

  // What the server's clock is ahead of this browser's, in milliseconds.
  let clockAhead = 0

  function span(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000))
    if (seconds < 60) return seconds + ' s'
    if (seconds < 3600) return Math.round(seconds / 60) + ' min'
    if (seconds < 48 * 3600) return Math.round(seconds / 3600) + ' h'
    return Math.round(seconds / 86400) + ' days'
  }

  function ago(milliseconds) {
    const age = Date.now() + clockAhead - milliseconds
    return age < 3000 ? 'just now' : span(age) + ' ago'
  }

  const exact = milliseconds => new Date(milliseconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

  // MARK: Elements

  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag)
    for (const [name, value] of Object.entries(properties)) {
      if (name === 'class') made.className = value
      else made.setAttribute(name, value)
    }
    made.append(...children.filter(child => child !== null && child !== undefined))
    return made
  }

  function graphic(tag, attributes = {}, ...children) {
    const made = document.createElementNS(svgSpace, tag)
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
    made.append(...children)
    return made
  }

  // Text of others, which must not mix with the text around it.
  const foreign = (text, kind = '') => element('bdi', kind ? { class: kind } : {}, visible(text))
  const word = (text, kind) => element('span', { class: 'state ' + kind }, text)
  const sub = (...children) => element('span', { class: 'sub' }, ...children)

  function time(milliseconds, words = ago) {
    if (!milliseconds) return null
    const made = element('time', { datetime: new Date(milliseconds).toISOString(), title: exact(milliseconds) })
    made.words = () => words(milliseconds)
    made.textContent = made.words()
    return made
  }

  function row(key) {
    const text = visible(key)
    return element('span', { class: 'mono', title: text }, text.length > 16 ? text.slice(0, 8) + '…' + text.slice(-6) : text)
  }

  function bar(part, kind) {
    return graphic('svg', { class: 'bar', 'aria-hidden': 'true' },
      graphic('rect', { width: '100%', height: '100%', rx: 2 }),
      graphic('rect', { class: kind, width: Math.max(part > 0 ? 2 : 0, part * 100) + '%', height: '100%', rx: 2 }))
  }

  // MARK: Tables

  // A table whose rows stay while what they show does.
  function table(place, title, columns, empty) {
    const body = element('tbody', { role: 'rowgroup' })
    const headings = columns.map(([name, kind]) =>
      element('th', { scope: 'col', role: 'columnheader', class: kind || '' }, name))
    const whole = element('table', { class: 'stacks', role: 'table' },
      element('caption', { class: 'unseen' }, title),
      element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...headings)), body)
    const nothing = element('p', { class: 'empty' }, empty)
    place.replaceChildren(whole, nothing)
    let present = null
    return items => {
      const former = present
      present = new Map()
      for (const item of items) {
        const text = JSON.stringify([item.shown, item.kind || ''])
        let held = former && former.get(item.key)
        if (!held || held.text !== text) {
          const line = element('tr', { role: 'row', class: item.kind || '' })
          columns.forEach(([name, kind], index) => {
            const cell = [item.cells()[index]].flat().filter(part => part !== null && part !== undefined && part !== '')
            line.append(element('td', { role: 'cell', class: (kind || '') + (cell.length ? '' : ' none'), 'data-label': name },
              element('div', {}, ...cell)))
          })
          if (former) line.classList.add('new')
          held = { text, line }
        }
        present.set(item.key, held)
      }
      const lines = [...present.values()].map(held => held.line)
      if (lines.length !== body.children.length || lines.some((line, index) => line !== body.children[index])) {
        body.replaceChildren(...lines)
      }
      whole.hidden = items.length === 0
      nothing.hidden = items.length > 0
    }
  }

  // Made anew for each session, so that nothing of one is left for the next.
  let views = null

  function makeViews() {
    return {
      devices: table(byId('devices'), 'Devices of this store', [['Device'], ['State', 'short'], ['Last sync', 'short'], ['Behind'], ['May exchange'], ['Enrolled', 'short']],
        'No device was enrolled yet. Invite one with: syncctl invite <store> --label <name>'),
      conflicts: table(byId('conflicts'), 'Open conflicts, the newest first', [['Found', 'short'], ['Table'], ['Row', 'short'], ['Column'], ['Value that lost', 'wide'], ['Written by'], ['Lost against'], ['Details', 'short']],
        'No conflict is open.'),
      parked: table(byId('parked'), 'Rows that wait for their place', [['Since', 'short'], ['Table'], ['Row', 'short'], ['Why', 'wide'], ['Other row', 'short']],
        'Every row is in its place.'),
      tables: table(byId('tables'), 'Tables that are synchronized', [['Table'], ['Rows', 'number'], ['Share', 'short']], 'No table is tracked.'),
      peers: table(byId('peers'), 'Replicas that are no devices', [['Replica'], ['Last sync', 'short'], ['Behind']],
        'Only devices synchronize with this store.'),
      remotes: table(byId('remotes'), 'Synchronizations that this store asked for', [['Remote'], ['Last try', 'short'], ['Result']], ''),
      charts: ['Last 2 minutes', 'Last 2 hours'].map(chart),
    }
  }

  // MARK: Lists

  const lagText = lag => lag.changes > 0 ? (lag.atMost ? 'up to ' : '') + counted(lag.changes, 'change') : 'nothing'

  const share = (lag, most) => lag && most > 0 ? Math.round(100 * lag.changes / most) / 100 : 0

  function behind(lag, part) {
    if (!lag) return null
    if (lag.changes === 0) return word('up to date', 'good')
    return [lagText(lag), bar(part, 'late'),
      lag.oldest ? sub('oldest ', time(lag.oldest)) : null]
  }

  function deviceState(device) {
    if (device.revoked) return [word('revoked', 'bad'), sub(time(device.revoked))]
    if (device.streams > 0) return word('live', 'good')
    return device.replica ? word('not connected', 'quiet') : word('never connected', 'warn')
  }

  function showDevices(devices, number) {
    const most = Math.max(0, ...devices.map(device => device.lag ? device.lag.changes : 0))
    byId('devices-note').textContent = devices.length < number ? 'the newest ' + devices.length + ' of ' + count(number) : ''
    const order = [...devices].sort((a, b) => Boolean(a.revoked) - Boolean(b.revoked))
    views.devices(order.map(device => ({
      key: device.device, shown: [device, share(device.lag, most)], kind: device.revoked ? 'off' : '',
      cells: () => [
        [foreign(device.label), device.replica ? sub('replica ' + device.replica) : null],
        deviceState(device),
        [time(device.synced || device.seen) || 'never'],
        behind(device.lag, share(device.lag, most)),
        [device.tables ? foreign(device.tables.join(', ')) : 'all tables',
          device.rows ? sub('rows by ', foreign(device.rows.join(', '))) : null, device.readOnly ? sub('read-only') : null],
        [time(device.enrolled)],
      ],
    })))
  }

  const reasons = {
    newer: 'a newer value', deleted: 'a deletion', 'merge failed': 'a failed merge', row: 'a deletion',
  }

  function showConflicts(conflicts) {
    const more = conflicts.items.length < conflicts.open
      ? 'the newest ' + conflicts.items.length + ' of ' + count(conflicts.open) + '; ' : ''
    byId('conflicts-note').replaceChildren(
      ...conflicts.open > 0 ? [more + 'all of them at once: ', element('code', {}, 'syncctl conflicts resolve')] : [])
    views.conflicts(conflicts.items.map(item => ({
      key: item.id, shown: item,
      cells: () => [[time(item.found)], [foreign(item.table)], [row(item.key)], [foreign(item.column)],
        [foreign(item.lost, 'value-text')], [foreign(item.writer)],
        [reasons[item.reason] || foreign(item.reason), sub('by ', foreign(item.winner))],
        [button('Show', () => openConflict(item.id), 'Show the conflict in ' + visible(item.table) + ', column ' + visible(item.column))]],
    })))
  }

  // MARK: One conflict

  function button(text, act, label) {
    const made = element('button', label ? { type: 'button', 'aria-label': label } : { type: 'button' }, text)
    made.addEventListener('click', act)
    return made
  }

  function side(title, text, writer, absent) {
    const value = text === undefined
      ? element('p', { class: 'empty' }, absent)
      : element('pre', { class: 'value-text', tabindex: 0 }, element('bdi', {}, visibleLines(text)))
    return element('section', {}, element('h3', {}, title), value,
      element('p', { class: 'muted' }, 'by ', foreign(writer.name), writer.at ? ', ' : '', time(writer.at)))
  }

  const operations = { insert: 'inserted', update: 'written', delete: 'deleted' }

  function rowHistory(changes) {
    const lines = changes.map(change => element('tr', {},
      element('td', { class: 'short' }, time(change.at)), element('td', {}, foreign(change.by)),
      element('td', {}, operations[change.operation] || foreign(change.operation),
        change.columns.length ? sub(foreign(change.columns.join(', '))) : null)))
    return [element('h3', {}, 'What happened to the row'), lines.length
      ? element('table', {}, element('thead', {}, element('tr', {},
        ...['When', 'By', 'What'].map(name => element('th', { scope: 'col' }, name)))), element('tbody', {}, ...lines))
      : element('p', { class: 'empty' }, 'Nothing is known of it.')]
  }

  // Which conflict the dialog shows: what is chosen, and what is answered late, is about that one.
  let shown = null
  const conflictPath = (of, id) => '/console/stores/' + of + '/conflicts/' + id

  function conflictProblem(text) {
    byId('conflict-problem').textContent = text
    byId('conflict-problem').hidden = !text
  }

  function fillConflict(of, conflict) {
    shown = { store: of, id: conflict.id, state: conflict.state }
    byId('conflict-title').replaceChildren(foreign(conflict.table), ', column ', foreign(conflict.column))
    const gone = conflict.rowExists ? 'The column is not here.' : 'The row is not in its table.'
    const notes = [conflict.open ? null : 'It has been resolved in the meantime.',
      conflict.reason === 'deleted' ? 'Restoring the value inserts the whole row again.' : null,
      conflict.others > 0 ? 'The journal keeps ' + counted(conflict.others, 'other value') + ' of this row.' : null]
    byId('conflict-body').replaceChildren(
      element('p', { class: 'muted' }, 'row ', element('span', { class: 'mono' }, visible(conflict.key)), ', found ', time(conflict.found)),
      element('div', { class: 'sides' }, side('Value now', conflict.current, conflict.winner, gone),
        side('Value that lost', conflict.lost, conflict.writer, '')),
      ...notes.filter(Boolean).map(text => element('p', {}, text)), ...rowHistory(conflict.history))
    byId('conflict-actions').replaceChildren(...conflict.open
      ? [button('Keep what is there', () => choose('keep')), button('Restore the value that lost', () => choose('restore'))]
      : [])
  }

  async function openConflict(id) {
    const wanted = store
    const answer = await ask(conflictPath(wanted, id)).catch(() => null)
    if (wanted !== store) return
    if (answer && answer.status === 401) return ended()
    const found = answer && answer.status === 200
    conflictProblem(found ? '' : answer ? visible(answer.document.detail) : 'The server cannot be reached.')
    if (found) fillConflict(wanted, answer.document)
    else closeConflict(false)
    if (!byId('conflict').open) byId('conflict').showModal()
  }

  async function choose(choice) {
    const mine = shown
    const buttons = byId('conflict-actions').querySelectorAll('button')
    for (const made of buttons) made.disabled = true
    const answer = await ask(conflictPath(mine.store, mine.id), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ choice, state: mine.state }),
    }).catch(() => null)
    if (mine !== shown) return
    if (answer && answer.status === 401) return ended()
    if (answer && answer.status === 200 && answer.document.remaining === 0) return closeConflict(true)
    for (const made of buttons) made.disabled = false
    conflictProblem(!answer ? 'The server cannot be reached; nothing is known of what was chosen.'
      : answer.status === 200 ? 'It is still open: a newer value of the column was restored in its place, or the column is not here.'
        : visible(answer.document.detail))
  }

  // Leaves nothing of what it showed.
  function closeConflict(closes) {
    shown = null
    for (const id of ['conflict-title', 'conflict-body', 'conflict-actions']) byId(id).replaceChildren()
    if (closes && byId('conflict').open) byId('conflict').close()
  }

  const causes = {
    unique: 'has the value of another row', notNull: 'misses a value', check: 'breaks a check',
    missingParent: 'its parent is not here', trigger: 'was refused by a trigger',
    missingTable: 'its table is not here', missingColumn: 'a column is not here', other: 'could not be written',
  }

  function showParked(parked) {
    byId('parked-note').textContent = parked.items.length < parked.count
      ? parked.items.length + ' of ' + count(parked.count) : ''
    views.parked(parked.items.map(item => ({
      key: item.table + ' ' + item.key, shown: item,
      cells: () => [[time(item.since)], [foreign(item.table)], [row(item.key)],
        [causes[item.reason] || foreign(item.reason), sub(foreign(item.message))],
        item.otherKey ? [row(item.otherKey), item.otherTable && item.otherTable !== item.table ? sub(foreign(item.otherTable)) : null] : null],
    })))
  }

  function showOthers(state) {
    const rows = Math.max(1, ...state.store.tables.map(item => item.rows))
    const sum = state.store.tables.reduce((total, item) => total + item.rows, 0)
    byId('tables-note').textContent = counted(sum, 'row') + ' in ' + counted(state.store.tables.length, 'table')
    views.tables(state.store.tables.map(item => ({
      key: item.name, shown: [item, rows],
      cells: () => [[foreign(item.name)], [count(item.rows)], [bar(item.rows / rows, 'full')]],
    })))
    const most = Math.max(0, ...state.peers.map(peer => peer.lag ? peer.lag.changes : 0))
    views.peers(state.peers.map(peer => ({
      key: peer.replica, shown: [peer, share(peer.lag, most)],
      cells: () => [[foreign(peer.name || peer.replica), peer.name ? sub('replica ' + peer.replica) : null], [time(peer.synced)], behind(peer.lag, share(peer.lag, most))],
    })))
    views.remotes(state.remotes.map(remote => ({
      key: remote.name, shown: remote,
      cells: () => [[foreign(remote.name)], [time(remote.tried)],
        remote.failures > 0 ? [word(counted(remote.failures, 'failure'), 'bad'), sub(foreign(remote.error || ''))] : word('synchronized', 'good')],
    })))
  }

  // MARK: Summary and charts

  // The last ones, so that each can be made anew when the other comes.
  let latest = { state: null, traffic: null }

  function tile(name, value, detail, kind, picture) {
    return element('div', { class: 'tile ' + (kind || '') }, element('dt', {}, name),
      element('dd', { class: 'value' }, value), element('dd', { class: 'detail' }, ...[detail].flat()), picture)
  }

  function showTiles() {
    const { state, traffic } = latest
    if (!state) return
    const active = state.devices.filter(device => !device.revoked)
    const live = active.filter(device => device.streams > 0).length
    const late = active.filter(device => device.lag && device.lag.changes > 0).sort((a, b) => b.lag.changes - a.lag.changes)
    const synced = Math.max(0, ...active.map(device => device.synced || 0), ...state.peers.map(peer => peer.synced))
    const seconds = traffic && traffic.series[0]
    const last = series => series.slice(-6, -1).reduce((sum, value) => sum + value, 0) / 5
    const rate = seconds ? last(seconds.sent) + last(seconds.received) : 0
    byId('tiles').replaceChildren(
      tile('Devices', count(active.length), live > 0 ? word(live + ' live', 'good') : active.length > 0 ? 'none is live' : 'none was enrolled'),
      tile('Behind', late.length > 0 ? counted(late.length, 'device') : 'none',
        late.length > 0 ? [foreign(late[0].label), ': ' + lagText(late[0].lag)] : active.length > 0 ? 'all have every change' : '', late.length > 0 ? 'warn' : ''),
      tile('Last sync', synced ? time(synced) : 'never', synced ? new Date(synced).toLocaleTimeString() : ''),
      tile('Throughput', bytes(rate) + '/s', seconds ? last(seconds.requests).toFixed(1) + ' requests/s' : '', '', seconds ? sparkline(seconds) : null),
      tile('Conflicts', count(state.conflicts.open), state.conflicts.open > 0 ? 'open' : 'none is open', state.conflicts.open > 0 ? 'warn' : ''),
      tile('Rows that wait', count(state.parked.count), state.parked.count > 0 ? 'see below' : 'all are in place', state.parked.count > 0 ? 'warn' : ''))
  }

  // Bars from a line, upwards or, with a negative scale, downwards. What is there is seen, however small.
  function bars(values, scale, line) {
    return values.map((value, index) => {
      if (value <= 0) return ''
      const height = (Math.max(1, value * Math.abs(scale)) * Math.sign(scale)).toFixed(2)
      return 'M' + (index * 4) + ' ' + line + 'v' + -height + 'h3v' + height + 'z'
    }).join('')
  }

  function sparkline(series) {
    const values = series.sent.map((value, index) => value + series.received[index]).slice(-40)
    const most = Math.max(1, ...values)
    return graphic('svg', { viewBox: '0 0 160 40', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      graphic('path', { class: 'sent', d: bars(values, 38 / most, 40) }))
  }

  function chart(title, index) {
    const sent = graphic('path', { class: 'sent' })
    const received = graphic('path', { class: 'received' })
    const peak = element('span')
    const picture = graphic('svg', { viewBox: '0 0 480 100', preserveAspectRatio: 'none', role: 'img' },
      sent, received, graphic('line', { class: 'zero', x1: 0, x2: 480, y1: 50, y2: 50 }))
    byId('charts').append(element('figure', { class: 'chart' },
      element('figcaption', {}, element('span', {}, title), peak), picture,
      element('div', { class: 'axis', 'aria-hidden': 'true' },
        element('span', {}, index === 0 ? '2 min ago' : '2 h ago'), element('span', {}, 'now'))))
    return series => {
      const most = Math.max(...series.sent, ...series.received)
      const scale = 48 / Math.max(1, most)
      sent.setAttribute('d', bars(series.sent, scale, 50))
      received.setAttribute('d', bars(series.received, -scale, 50))
      const sum = values => bytes(values.reduce((total, value) => total + value, 0))
      peak.textContent = most > 0 ? 'peak ' + bytes(most * 1000 / series.step) + '/s' : 'nothing was sent'
      picture.setAttribute('aria-label', title + ': ' + sum(series.sent) + ' to devices, ' + sum(series.received) + ' from devices')
    }
  }

  function show(state) {
    if (!views) {
      byId('charts').replaceChildren()
      views = makeViews()
    }
    clockAhead = state.now - Date.now()
    latest.state = state
    byId('name').textContent = visible(state.store.name)
    byId('about').textContent = 'replica ' + state.store.replica + ' of database ' + state.store.id.slice(0, 8)
    document.title = visible(state.store.name) + ' · CipherStore'
    showTiles()
    showDevices(state.devices, state.store.devices)
    showConflicts(state.conflicts)
    showParked(state.parked)
    showOthers(state)
    byId('help').hidden = true
    byId('content').hidden = false
    byId('end').hidden = false
  }

  function showTraffic(traffic) {
    latest.traffic = traffic
    if (!views) return
    traffic.series.forEach((series, index) => views.charts[index](series))
    showTiles()
  }

  // MARK: Connection

  const silenceMilliseconds = 30000
  let store = null
  let source = null
  let heardAt = 0
  let failures = 0
  let retryAt = 0
  let again = null

  function say(text, kind) {
    const place = byId('connection')
    // The same words are not read out again.
    if (place.textContent !== text) place.textContent = text
    place.className = 'state ' + kind
  }

  function connected() {
    heardAt = Date.now()
    failures = 0
    retryAt = 0
    byId('retry').hidden = true
    document.body.classList.remove('lost')
    say('Live', 'good')
  }

  // Shows nothing but what to do.
  function help(title, text) {
    if (source) source.close()
    source = null
    store = null
    views = null
    latest = { state: null, traffic: null }
    retryAt = 0
    for (const id of ['devices', 'conflicts', 'parked', 'tables', 'peers', 'remotes', 'charts', 'tiles']) byId(id).replaceChildren()
    closeConflict(true)
    for (const id of ['content', 'end', 'retry']) byId(id).hidden = true
    byId('name').textContent = 'Server'
    byId('about').textContent = ''
    document.title = 'CipherStore'
    byId('help-title').textContent = title
    byId('help-text').textContent = text
    byId('help').hidden = false
    document.body.classList.remove('lost')
    say('No session', 'quiet')
  }

  const ended = () => help('The session has ended', 'It lasts twelve hours, and one hour without an open page. It also ends with the server, or when somebody ends it.')

  // Tries something again later, each time after a longer pause.
  function lost(what) {
    if (source) source.close()
    source = null
    failures += 1
    const seconds = Math.min(30, 2 ** (failures - 1)) * (0.75 + Math.random() / 2)
    retryAt = Date.now() + seconds * 1000
    again = what
    byId('retry').hidden = false
    document.body.classList.add('lost')
    say('Connection lost' + (latest.state ? ', this is from ' + new Date(heardAt).toLocaleTimeString() : ''), 'bad')
  }

  function retry() {
    if (!retryAt) return
    retryAt = 0
    say('Connecting', 'quiet')
    again()
  }

  async function ask(path, options = {}) {
    const response = await fetch(path, { cache: 'no-store', credentials: 'same-origin', ...options })
    return { status: response.status, document: response.status === 204 ? null : await response.json() }
  }

  // Asks once, because a stream that is refused does not say why, and then follows the stream.
  async function follow() {
    const wanted = store
    try {
      const answer = await ask('/console/stores/' + wanted + '/data')
      if (wanted !== store) return
      if (answer.status === 401) return ended()
      if (answer.status !== 200) return lost(follow)
      show(answer.document)
    } catch {
      return lost(follow)
    }
    source = new EventSource('/console/stores/' + wanted + '/events')
    heardAt = Date.now()
    const on = (name, act) => source.addEventListener(name, event => {
      connected()
      act(JSON.parse(event.data))
    })
    on('state', show)
    on('traffic', showTraffic)
    on('alive', () => {})
    source.onerror = () => lost(follow)
  }

  function open(identifier) {
    closeConflict(true)
    store = identifier
    history.replaceState(null, '', '/console?store=' + identifier)
    follow()
    listStores()
  }

  async function listStores() {
    const answer = await ask('/console/sessions').catch(() => null)
    if (!answer || answer.status !== 200) return
    const place = byId('stores')
    place.replaceChildren(...answer.document.stores.map(item => {
      const link = element('a', { href: '/console?store=' + item.store }, foreign(item.name))
      if (item.store === store) link.setAttribute('aria-current', 'page')
      return link
    }))
    place.hidden = answer.document.stores.length < 2
  }

  async function begin() {
    const secret = location.hash.slice(1)
    const given = new URLSearchParams(location.search).get('store')
    if (secret) {
      // It must not stay in the address bar or in the history.
      history.replaceState(null, '', '/console')
      return exchange(secret)
    }
    if (given && /^[0-9a-f]{32}$/.test(given)) return open(given)
    try {
      const answer = await ask('/console/sessions')
      if (answer.status !== 200) return lost(begin)
      if (answer.document.stores.length > 0) return open(answer.document.stores[0].store)
      help('This page opens with a link', 'It shows what a store holds, so nobody sees it without one.')
    } catch {
      lost(begin)
    }
  }

  async function exchange(secret) {
    if (source) source.close()
    source = null
    const later = () => exchange(secret)
    try {
      const answer = await ask('/console/sessions', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ secret }),
      })
      if (answer.status === 201) return open(answer.document.store)
      if (answer.status >= 500) return lost(later)
      help('This link does not open', 'It was used already, has expired, or is not this server\'s. Make another one.')
    } catch {
      lost(later)
    }
  }

  async function end() {
    try {
      if (store) await ask('/console/stores/' + store + '/session', { method: 'DELETE' })
      ended()
    } catch {
      say('The session could not be ended', 'bad')
    }
  }

  setInterval(() => {
    for (const place of document.querySelectorAll('time')) {
      const text = place.words()
      if (place.textContent !== text) place.textContent = text
    }
    if (source && Date.now() - heardAt > silenceMilliseconds) lost(follow)
    if (retryAt && Date.now() >= retryAt) retry()
  }, 1000)
  byId('retry').addEventListener('click', retry)
  byId('end').addEventListener('click', end)
  byId('conflict-close').addEventListener('click', () => closeConflict(true))
  byId('conflict').addEventListener('close', () => closeConflict(false))
  addEventListener('online', retry)
  // Another link that is put into the same address bar loads nothing anew.
  addEventListener('hashchange', () => { if (location.hash.length > 1) begin() })
  begin()
}

"""##
}
