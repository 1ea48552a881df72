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
