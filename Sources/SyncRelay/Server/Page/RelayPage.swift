// swift-format-ignore-file

/// The files of `Sources/RelayPage`, which browsers get. Made by `Scripts/embed-console`; a test compares.
enum RelayPage {
    static let html = ##"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Relay · CipherStore</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e7f'/%3E%3Cpath d='M2.500 6h9M9 3.500 11.500 6 9 8.500M13.500 10h-9M7 7.500 4.500 10 7 12.500' fill='none' stroke='%23fff' stroke-width='1.500'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/page/page.css">
<script src="/page/page.js" defer></script>
</head>
<body>
<header>
  <div>
    <p class="brand">CipherStore</p>
    <h1>Relay</h1>
    <p id="about" class="muted"></p>
  </div>
  <div class="connection">
    <p id="connection" role="status" aria-live="polite" class="state quiet">Connecting</p>
    <button id="retry" type="button" hidden>Try now</button>
  </div>
</header>

<main>
  <noscript><section class="card help"><h2>This page needs JavaScript</h2><p>It runs a script of this relay, and nothing else.</p></section></noscript>

  <section aria-label="Warnings" aria-live="polite"><ul id="warnings" class="card warnings" hidden></ul></section>

  <div id="content" hidden>
    <section aria-labelledby="summary-title">
      <h2 id="summary-title" class="unseen">Summary</h2>
      <dl id="tiles" class="tiles"></dl>
    </section>

    <section class="card" aria-labelledby="traffic-title">
      <div class="heading">
        <h2 id="traffic-title">Traffic</h2>
        <fieldset class="range">
          <legend class="unseen">Time that the charts show</legend>
          <label><input type="radio" name="range" value="0" checked><span>2 minutes</span></label>
          <label><input type="radio" name="range" value="1"><span>2 hours</span></label>
        </fieldset>
      </div>
      <div id="charts" class="charts"></div>
    </section>

    <section class="card" aria-labelledby="loads-title">
      <h2 id="loads-title">Limits</h2>
      <dl id="loads" class="facts loads"></dl>
    </section>

    <div class="pair">
      <section class="card" aria-labelledby="storage-title">
        <h2 id="storage-title">Storage</h2>
        <dl id="storage" class="facts"></dl>
      </section>
      <section class="card" aria-labelledby="access-title">
        <h2 id="access-title">Certificate and access</h2>
        <dl id="access" class="facts">
          <div id="fingerprint-fact">
            <dt>Fingerprint</dt>
            <dd>
              <span id="fingerprint" class="fingerprint"></span>
              <span class="copy"><button id="copy" type="button">Copy the fingerprint</button><span id="copied" role="status" class="muted"></span></span>
            </dd>
          </div>
          <div><dt>Known by</dt><dd id="known-by"></dd></div>
          <div id="validity-fact"><dt>Last day</dt><dd id="validity"></dd></div>
          <div><dt>New channels</dt><dd id="admission"></dd></div>
        </dl>
      </section>
    </div>

    <section class="card" aria-labelledby="requests-title">
      <div class="heading"><h2 id="requests-title">Requests</h2><p class="muted">since the relay was started</p></div>
      <div id="requests"></div>
    </section>

    <section class="card" aria-labelledby="refused-title">
      <div class="heading"><h2 id="refused-title">What was refused</h2><p id="refused-note" class="muted"></p></div>
      <div id="refused"></div>
    </section>
  </div>
</main>
<footer class="muted">All of this comes from this relay and from nowhere else. It knows no names of channels, files or clients, and keeps no addresses. Times are those of this browser's zone.</footer>
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

/* What the relay's page has beside that. */
ul { margin: 0; padding: 0; list-style: none; }
.warnings { border-color: var(--warn); }
.warnings li + li { margin-top: 0.5rem; }
.warnings .state { white-space: normal; }
.warnings .sub { display: block; margin-left: 0.9rem; color: var(--muted); font-size: 0.8125rem; }

.range { display: flex; margin: 0; padding: 0.125rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--ground); }
.range label { position: relative; cursor: pointer; }
.range input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: pointer; }
.range span { display: block; padding: 0.125rem 0.75rem; border: 1px solid transparent; border-radius: 0.375rem; color: var(--muted); font-size: 0.8125rem; }
.range input:checked + span { border-color: var(--line); background: var(--surface); color: var(--ink); font-weight: 600; }
.range input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; }

svg .refused { fill: var(--bad); }
.key.refused { background: var(--bad); margin-left: 0.6rem; }
.chart figcaption { flex-wrap: wrap; gap: 0.125rem 1rem; }
.chart .title { color: var(--ink); font-weight: 600; }
.chart .legend { margin-right: auto; }

.facts { margin-top: 0.5rem; }
.facts > div { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); gap: 0 1rem; padding: 0.45rem 0; border-bottom: 1px solid var(--line); }
.facts > div:last-child { border-bottom: 0; padding-bottom: 0; }
.facts dt { color: var(--muted); }
.facts .sub { display: block; color: var(--muted); font-size: 0.8125rem; }
.facts .bar { width: 100%; height: 0.375rem; margin: 0.375rem 0 0.25rem; }
.bar .second { fill: var(--second); }
.facts .state { white-space: normal; }
.loads { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); gap: 0.75rem 2rem; }
.loads > div { display: block; padding: 0; border: 0; }
.loads dt { font-size: 0.8125rem; }
#refused th:first-child { width: 9rem; }
#refused th:nth-child(2) { width: 7rem; padding-right: 3rem; }
#refused td:nth-child(2) { padding-right: 3rem; }
#refused td.wide { width: auto; }
/* Lines and gaps are drawn only: what is selected is one word. */
.fingerprint { display: block; max-width: 20rem; font-family: var(--mono); font-size: 0.875em; }
.fingerprint span { display: inline-block; margin-right: 0.75rem; }
.copy { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; margin-top: 0.5rem; }
.statuses { display: block; max-width: 24rem; margin-left: auto; color: var(--muted); font-size: 0.8125rem; white-space: normal; }

@media (max-width: 44rem) {
  .facts > div { grid-template-columns: minmax(0, 1fr); }
  .facts dt { font-size: 0.8125rem; }
  .statuses { margin-left: 0; }
  #refused td { padding-right: 0; }
  .stacks td.zero { display: none; }
}

"""##
    static let script = ##"""
'use strict'
// The page of a relay. What it shows is put in as text only, never as markup.
{
  const byId = id => document.getElementById(id)
  const svgSpace = 'http://www.w3.org/2000/svg'
  const stateVersion = 1

  // MARK: Text

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

  function rate(number) {
    if (number === 0) return '0'
    return number < 9.95 ? number.toFixed(1) : count(Math.round(number))
  }

  function span(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000))
    if (seconds < 60) return seconds + ' s'
    if (seconds < 3600) return Math.floor(seconds / 60) + ' min'
    if (seconds < 48 * 3600) return Math.floor(seconds / 3600) + ' h ' + Math.floor(seconds % 3600 / 60) + ' min'
    return Math.floor(seconds / 86400) + ' days'
  }

  function duration(microseconds) {
    if (microseconds < 1000) return 'under 1 ms'
    return microseconds < 1e6 ? (microseconds / 1000).toFixed(microseconds < 9950 ? 1 : 0) + ' ms' : (microseconds / 1e6).toFixed(1) + ' s'
  }

  const percent = part => part > 0 && part < 0.01 ? 'under 1 %' : Math.round(part * 100) + ' %'

  // MARK: Elements

  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag)
    for (const [name, value] of Object.entries(properties)) {
      if (name === 'class') made.className = value
      else made.setAttribute(name, value)
    }
    made.append(...children.filter(child => child !== null && child !== undefined && child !== ''))
    return made
  }

  function graphic(tag, attributes = {}, ...children) {
    const made = document.createElementNS(svgSpace, tag)
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
    made.append(...children)
    return made
  }

  const word = (text, kind) => element('span', { class: 'state ' + kind }, text)
  const sub = (...children) => element('span', { class: 'sub' }, ...children)
  const code = text => element('code', {}, text)

  function time(milliseconds, style) {
    const date = new Date(milliseconds)
    return element('time', { datetime: date.toISOString(), title: date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) },
      date.toLocaleString(undefined, style))
  }
  const moment = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }
  const day = { dateStyle: 'long' }

  function bar(part, kind) {
    return graphic('svg', { class: 'bar', 'aria-hidden': 'true' },
      graphic('rect', { width: '100%', height: '100%', rx: 2 }),
      graphic('rect', { class: kind, width: Math.min(100, Math.max(part > 0 ? 1 : 0, part * 100)) + '%', height: '100%', rx: 2 }))
  }

  // Puts parts into a place, unless it shows them already: what is selected or has the focus stays so.
  function fill(place, shown, parts) {
    const text = JSON.stringify(shown ?? null)
    if (place.shown === text) return
    place.shown = text
    place.replaceChildren(...parts().filter(part => part !== null && part !== undefined && part !== ''))
  }

  const fact = (name, ...parts) => element('div', {}, element('dt', {}, name), element('dd', {}, ...parts))

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
    let present = new Map()
    return items => {
      const former = present
      present = new Map()
      for (const item of items) {
        const text = JSON.stringify(item.shown)
        let held = former.get(item.key)
        if (!held || held.text !== text) {
          const line = element('tr', { role: 'row' })
          const cells = item.cells()
          columns.forEach(([name, kind], index) => {
            const cell = [cells[index]].flat().filter(part => part !== null && part !== undefined && part !== '')
            line.append(element('td', { role: 'cell', class: (kind || '') + (cell.length ? '' : ' none') + (cell[0] === '0' ? ' zero' : ''), 'data-label': name },
              element('div', {}, ...cell)))
          })
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

  const showKinds = table(byId('requests'), 'Requests by kind, with the statuses of their answers',
    [['Request'], ['Answered', 'number'], ['Refused', 'number'], ['Begins after', 'number']],
    'Nobody has asked for anything yet.')
  const showStatuses = table(byId('refused'), 'Refused requests by status',
    [['Status', 'short'], ['Requests', 'number'], ['What it means', 'wide']], 'Nothing was refused.')

  // MARK: Requests

  const kinds = {
    write: 'Write a file', read: 'Read a file', remove: 'Remove a file', changes: 'Several changes at once',
    list: 'List files', watch: 'Wait for changes', state: 'Look at a channel', 'make-channel': 'Make a channel',
    'remove-channel': 'Remove a channel', invite: 'Leave an invitation', 'take-invitation': 'Take an invitation',
    'remove-invitation': 'Withdraw an invitation', health: 'Health', metrics: 'Metrics', other: 'Anything else',
  }
  const order = Object.keys(kinds)

  const statuses = {
    400: ['malformed', 'The request can\'t be right, or its body is another one than was announced.', 'Clients send a body again that was damaged.'],
    401: ['no right', 'The token is wrong, or there is no such channel. Also when somebody without the admission token makes a channel.', 'Many of them may be somebody who guesses. Each address gets few.'],
    403: ['forbidden', 'The request is not allowed.', ''],
    404: ['not there', 'A file that was removed, an invitation that was used or is too old, or an address that means nothing here.', 'A few are a matter of course.'],
    408: ['too slow', 'The body of the request came too slowly.', ''],
    409: ['conflict', 'The channel was made with other tokens, or it changed too much while it was listed.', 'Clients begin such a listing again.'],
    411: ['no length', 'The request does not say how long it is.', ''],
    412: ['another version', 'A file of that name is there already, or in another version than was asked for.', 'A matter of course when two replicas write at once.'],
    413: ['too large', 'A file over 4 GiB, or a document over its bound.', ''],
    416: ['no such part', 'None of the bytes that were asked for are there.', ''],
    429: ['too often', 'An address sends more requests, more wrong tokens or more bytes at once than it may, and is told when to come again.', 'Behind a proxy all clients have one address: let the proxy limit them.'],
    503: ['not now', 'The storage can\'t be used, its disk is full, too many clients wait for changes, or the relay was ending.', 'Clients come again by themselves. The log says why.'],
    507: ['no room', 'The channel would have more bytes, files or invitations than it may, or the relay more channels.', 'The option --quota gives channels more room.'],
  }

  const sum = numbers => numbers.reduce((total, number) => total + number, 0)
  const sumOf = answers => sum(answers.map(answer => answer.count))
  const isRefused = answer => answer.status >= 400

  function showRequests(requests) {
    const place = kind => order.includes(kind) ? order.indexOf(kind) : order.length
    const list = answers => answers.length
      ? element('span', { class: 'statuses' }, answers.map(answer => answer.status + '\u00a0×\u00a0' + count(answer.count)).join(', ')) : null
    const sorted = [...requests].sort((a, b) => place(a.kind) - place(b.kind))
    showKinds(sorted.map(request => {
      const refused = request.answers.filter(isRefused)
      const answered = request.answers.filter(answer => !isRefused(answer))
      return {
        key: request.kind, shown: request,
        cells: () => [[kinds[request.kind] || request.kind], [count(sumOf(answered)), list(answered)],
          [count(sumOf(refused)), list(refused)], [duration(request.microseconds)]],
      }
    }))
    const totals = new Map()
    for (const answer of requests.flatMap(request => request.answers).filter(isRefused)) {
      totals.set(answer.status, (totals.get(answer.status) || 0) + answer.count)
    }
    const total = sum([...totals.values()])
    const all = sumOf(requests.flatMap(request => request.answers))
    byId('refused-note').textContent = total > 0 ? count(total) + ' of ' + counted(all, 'request') : ''
    showStatuses([...totals].sort(([a], [b]) => a - b).map(([status, number]) => {
      const [name, meaning, help] = statuses[status] || ['refused', 'The relay did not do it.', '']
      return {
        key: status, shown: number,
        cells: () => [[element('strong', {}, String(status)), sub(name)], [count(number)], [meaning, help ? sub(help) : null]],
      }
    }))
  }

  // MARK: Summary

  function tile(name, value, detail, kind, picture) {
    return element('div', { class: 'tile ' + (kind || '') }, element('dt', {}, name),
      element('dd', { class: 'value' }, value), element('dd', { class: 'detail' }, ...[detail].flat()), picture)
  }

  // Bars from a line, upwards or, with a negative scale, downwards. What is there is seen, however small.
  function bars(values, scale, line) {
    return values.map((value, index) => {
      if (value <= 0) return ''
      const height = (Math.max(1, value * Math.abs(scale)) * Math.sign(scale)).toFixed(2)
      return 'M' + (index * 4) + ' ' + line + 'v' + -height + 'h3v' + height + 'z'
    }).join('')
  }

  function sparkline(values) {
    const last = values.slice(-40)
    return graphic('svg', { viewBox: '0 0 160 40', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      graphic('path', { class: 'sent', d: bars(last, 38 / Math.max(1, ...last), 40) }))
  }

  function showTiles(state) {
    const { holds } = state.storage
    const seconds = state.traffic[0]
    const both = (a, b) => a.map((value, index) => value + b[index])
    const requests = both(seconds.answered, seconds.refused)
    const last = values => sum(values.slice(-6, -1)) / 5
    const unknown = 'not known'
    byId('tiles').replaceChildren(
      tile('Running', span(state.relay.upSeconds * 1000), ['since ', time(state.relay.started, moment)]),
      tile('Channels', holds ? count(holds.channels) : unknown, state.storage.channelsMax ? 'of ' + count(state.storage.channelsMax) : ''),
      tile('Files', holds ? count(holds.files) : unknown, holds ? bytes(holds.fileBytes) : ''),
      tile('On the disk', holds ? bytes(holds.diskBytes) : unknown, state.storage.kind, holds ? '' : 'warn'),
      tile('Watches', count(state.loads.watches.count), state.loads.watches.count === 1 ? 'client waits for changes' : 'clients wait for changes'),
      tile('Requests', rate(last(requests)) + '/s', bytes(last(both(seconds.received, seconds.sent))) + '/s', '', sparkline(requests)))
  }

  // MARK: Charts

  // Two series, one upwards and one downwards, over the time that was chosen.
  function chart(title, up, down, unit) {
    const above = graphic('path', { class: up.kind })
    const below = graphic('path', { class: down.kind })
    const peak = element('span')
    const begin = element('span')
    const picture = graphic('svg', { viewBox: '0 0 480 100', preserveAspectRatio: 'none', role: 'img' },
      above, below, graphic('line', { class: 'zero', x1: 0, x2: 480, y1: 50, y2: 50 }))
    const legend = element('span', { class: 'legend' }, element('span', { class: 'key ' + up.kind }), up.name,
      element('span', { class: 'key ' + down.kind }), down.name)
    byId('charts').append(element('figure', { class: 'chart' },
      element('figcaption', {}, element('span', { class: 'title' }, title), legend, peak), picture,
      element('div', { class: 'axis', 'aria-hidden': 'true' }, begin, element('span', {}, 'now'))))
    return series => {
      const [first, second] = [series[up.series], series[down.series]]
      const most = Math.max(...first, ...second)
      const scale = 48 / Math.max(1, most)
      above.setAttribute('d', bars(first, scale, 50))
      below.setAttribute('d', bars(second, -scale, 50))
      const ago = series.step < 60000 ? '2 minutes' : '2 hours'
      begin.textContent = ago + ' ago'
      peak.textContent = most > 0 ? 'peak ' + unit(most * 1000 / series.step, most) : 'nothing'
      picture.setAttribute('aria-label', title + ' in the last ' + ago + ': ' + [[up, first], [down, second]]
        .map(([part, values]) => unit.total(sum(values)) + ' ' + part.name).join(', '))
    }
  }

  const ofRequests = number => rate(number) + '/s'
  ofRequests.total = number => counted(number, 'request')
  const ofBytes = number => bytes(number) + '/s'
  ofBytes.total = bytes
  const charts = [
    chart('Requests', { series: 'answered', name: 'answered', kind: 'sent' }, { series: 'refused', name: 'refused', kind: 'refused' }, ofRequests),
    chart('Bytes', { series: 'sent', name: 'to clients', kind: 'sent' }, { series: 'received', name: 'from clients', kind: 'received' }, ofBytes),
  ]

  function showTraffic() {
    const chosen = Number(document.querySelector('input[name=range]:checked').value)
    if (latest) for (const draw of charts) draw(latest.traffic[chosen])
  }

  // MARK: Storage, limits, certificate

  function showStorage(storage) {
    fill(byId('storage'), storage, () => {
      const { holds } = storage
      const channel = [
        storage.channelBytesMax ? bytes(storage.channelBytesMax) : null,
        storage.channelFilesMax ? counted(storage.channelFilesMax, 'file') : null,
      ].filter(Boolean)
      const most = holds ? Math.max(1, holds.fileBytes, holds.diskBytes) : 1
      const more = holds ? holds.diskBytes - holds.fileBytes : 0
      return [
        fact('Kind', storage.kind),
        ...holds ? [
          fact('Bytes of files', bytes(holds.fileBytes), bar(holds.fileBytes / most, 'full'), sub('as clients sent them')),
          fact('Bytes on the disk', bytes(holds.diskBytes), bar(holds.diskBytes / most, 'second'),
            sub(more > 0 ? bytes(more) + ' more: what finds the files, and pages that are free' : '')),
        ] : [fact('Holds', word('can\'t be read now', 'bad'))],
        fact('Each channel', channel.length ? 'up to ' + channel.join(' and ') : 'as much as fits'),
      ]
    })
  }

  // From which part of a limit on it is told of.
  const nearlyFull = 0.8

  function loadsOf(state) {
    const { loads, storage } = state
    const found = [
      ['Connections', loads.connections, count, 'Others wait until one ends.'],
      ['Watches', loads.watches, count, 'Others are told to come again, by 503.'],
      ['Requests in memory', loads.memory, bytes, 'Others are told to come again, by 429.'],
    ]
    if (storage.holds && storage.channelsMax) {
      found.push(['Channels', { count: storage.holds.channels, max: storage.channelsMax }, count, 'No more are made, which is 507.'])
    }
    return found.map(([name, load, words, then]) => ({ name, load, words, then, part: load.count / Math.max(1, load.max) }))
  }

  function showLoads(state) {
    const found = loadsOf(state)
    fill(byId('loads'), found.map(item => item.load), () => found.map(({ name, load, words, then, part }) => fact(name,
      words(load.count) + ' of ' + words(load.max), bar(part, part >= nearlyFull ? 'late' : 'full'),
      sub(percent(part) + '. ', then))))
  }

  // How near the last day of a certificate is: two weeks, or a quarter of a short life.
  function isNearlyOver(certificate, now) {
    const life = certificate.until - (certificate.from || 0)
    return certificate.until - now < Math.min(14 * 86400000, life / 4)
  }

  function validityOf(certificate, now) {
    if (!certificate) return null
    if (certificate.from && certificate.from > now) return { kind: 'bad', text: 'is not valid yet' }
    if (!certificate.until) return { kind: 'good', text: 'has none' }
    if (certificate.until < now) return { kind: 'bad', text: 'has passed' }
    return { kind: isNearlyOver(certificate, now) ? 'warn' : 'good', text: 'in ' + span(certificate.until - now) }
  }

  function showAccess(state) {
    const { certificate } = state
    const validity = validityOf(certificate, state.now)
    byId('fingerprint-fact').hidden = !certificate
    byId('validity-fact').hidden = !certificate
    fill(byId('fingerprint'), certificate && certificate.fingerprint, () => certificate
      ? certificate.fingerprint.match(/.{1,8}/g).map(part => element('span', {}, part)) : [])
    fill(byId('known-by'), certificate && certificate.isPinned, () => !certificate
      ? ['no certificate', sub('Without TLS only this machine reaches the relay, or a proxy on it that has TLS.')]
      : certificate.isPinned
        ? ['its fingerprint', sub('Clients take this certificate and no other one. Links have it, and ', code('syncctl share --fingerprint'), ' takes it.')]
        : ['who signed it', sub('Clients check it as browsers do, and take the next one too.')])
    fill(byId('validity'), certificate && [certificate.until, validity], () => !certificate ? [] : [
      certificate.until ? time(certificate.until, day) : 'none',
      certificate.until ? sub(word(validity.text, validity.kind)) : sub('It is valid at all times.')])
    fill(byId('admission'), state.relay.needsAdmission, () => state.relay.needsAdmission
      ? ['need the admission token', sub('Who joins by a link needs none.')]
      : ['are made by anybody who reaches the relay', sub('An admission token bounds that: ', code('--admission-file'))])
  }

  // MARK: Warnings

  function showWarnings(state) {
    const found = []
    if (!state.storage.holds) {
      found.push(['bad', 'The storage can\'t be used.', 'Clients get 503 and come again. The relay\'s log says why.'])
    }
    const validity = validityOf(state.certificate, state.now)
    if (validity && validity.kind !== 'good') {
      const date = new Date(state.certificate.until || 0).toLocaleDateString(undefined, day)
      found.push([validity.kind, validity.text.startsWith('in ') ? 'The last day of the certificate is ' + date + ', ' + validity.text + '.' : 'The certificate ' + (validity.text === 'has passed' ? 'was valid until ' + date + '.' : validity.text + '.'),
        'Clients refuse it at other times. Have it renewed, and send SIGHUP to the relay: systemctl reload.'])
    }
    for (const { name, load, words, then, part } of loadsOf(state)) {
      if (part >= nearlyFull) found.push(['warn', name + ': ' + words(load.count) + ' of ' + words(load.max) + '.', then])
    }
    fill(byId('warnings'), found, () => found.map(([kind, text, help]) => element('li', {}, word(text, kind), sub(help))))
    byId('warnings').hidden = found.length === 0
  }

  // MARK: Connection

  const pollMilliseconds = 1000
  const hiddenPollMilliseconds = 15000
  const patienceMilliseconds = 10000
  let latest = null
  let heardAt = 0
  let failures = 0
  let timer = 0
  let asking = false

  function say(text, kind) {
    const place = byId('connection')
    // The same words are not read out again.
    if (place.textContent !== text) place.textContent = text
    place.className = 'state ' + kind
  }

  function show(state) {
    latest = state
    byId('about').textContent = [state.relay.version ? 'version ' + state.relay.version : null, 'keeps sealed files, and has no key to them'].filter(Boolean).join(' · ')
    showWarnings(state)
    showTiles(state)
    showTraffic()
    showStorage(state.storage)
    showAccess(state)
    showRequests(state.requests)
    showLoads(state)
    byId('content').hidden = false
  }

  function later(milliseconds) {
    clearTimeout(timer)
    timer = setTimeout(poll, milliseconds)
  }

  function connected() {
    heardAt = Date.now()
    failures = 0
    byId('retry').hidden = true
    document.body.classList.remove('lost')
    say('Live', 'good')
    later(document.hidden ? hiddenPollMilliseconds : pollMilliseconds)
  }

  // Each try comes after a longer pause.
  function lost(text) {
    failures += 1
    byId('retry').hidden = false
    document.body.classList.add('lost')
    say(text + (heardAt ? ', this is from ' + new Date(heardAt).toLocaleTimeString() : ''), 'bad')
    later(Math.min(15, 2 ** (failures - 1)) * 1000 * (0.75 + Math.random() / 2))
  }

  async function poll() {
    if (asking) return
    asking = true
    clearTimeout(timer)
    try {
      const response = await fetch('/page/state', { cache: 'no-store', signal: AbortSignal.timeout(patienceMilliseconds) })
      if (!response.ok) return lost('The relay answers ' + response.status)
      const state = await response.json()
      if (state.version !== stateVersion) return lost('The relay has another version now: load this page anew')
      show(state)
      connected()
    } catch {
      lost('The relay does not answer')
    } finally {
      asking = false
    }
  }

  // MARK: What people do

  function select(place) {
    const range = document.createRange()
    range.selectNodeContents(place)
    getSelection().removeAllRanges()
    getSelection().addRange(range)
  }

  async function copy() {
    let text = 'Copied'
    try {
      await navigator.clipboard.writeText(latest.certificate.fingerprint)
    } catch {
      select(byId('fingerprint'))
      text = 'The browser does not let pages copy. It is selected: press Ctrl+C'
    }
    byId('copied').textContent = text
    setTimeout(() => { byId('copied').textContent = '' }, 5000)
  }

  byId('copy').addEventListener('click', copy)
  byId('retry').addEventListener('click', poll)
  for (const choice of document.querySelectorAll('input[name=range]')) choice.addEventListener('change', showTraffic)
  document.addEventListener('visibilitychange', () => { if (!document.hidden) poll() })
  addEventListener('online', poll)
  poll()
}

"""##
}
