/* Search and copy buttons. The page reads well without them. */
const MAX_RESULTS = 12
/** What teaches comes before lists of commands and routes, and these before the reasons of decisions. */
const WEIGHTS = [
  [/^docs\/(?:tutorials|how-to)\//, 2],
  [/^docs\/reference\/(?:commands|http)-/, 0.8],
  [/^docs\//, 1],
]
const root = document.documentElement.dataset.root
const input = document.querySelector('#search')
const list = document.querySelector('#results')
let loading
let selected = -1

for (const box of document.querySelectorAll('.code')) box.append(copyButton(box))
if (matchMedia('(max-width: 800px)').matches) document.querySelector('#pages').open = false
document.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })

input.addEventListener('focus', () => {
  void loadIndex()
})
input.addEventListener('input', () => {
  void show()
})
input.addEventListener('keydown', onKey)
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.search')) close()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input')) return
  event.preventDefault()
  input.focus()
})

function copyButton(box) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    void copy(box, button)
  })
  return button
}

async function copy(box, button) {
  await navigator.clipboard.writeText(box.querySelector('code').textContent)
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = 'Copy'), 2000)
}

/** The index is loaded when it is needed: it is as large as all the pages together. */
function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}search-index.js`
    script.addEventListener('load', () => {
      resolve(
        globalThis.croftDocs.map(([url, title, heading, text]) => ({
          url,
          title,
          heading,
          text,
          lower: {
            title: title.toLowerCase(),
            heading: heading.toLowerCase(),
            text: text.toLowerCase(),
          },
        })),
      )
    })
    script.addEventListener('error', () => {
      loading = undefined
      reject(new Error('The index of the search could not be loaded'))
    })
    document.head.append(script)
  })
  return loading
}

async function show() {
  const words = wordsOf(input.value)
  if (words.length === 0) return close()
  const sections = await loadIndex()
  if (words.join(' ') !== wordsOf(input.value).join(' ')) return
  const found = sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_RESULTS)
  list.replaceChildren(
    ...(found.length === 0
      ? [noResult()]
      : found.map(({ section }, at) => resultOf(section, words, at))),
  )
  list.hidden = false
  input.setAttribute('aria-expanded', 'true')
  select(found.length === 0 ? -1 : 0)
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean)

/** 0 unless each word is in the section. Titles weigh more than text, beginnings of words more than their middle. */
function scoreOf({ url, lower }, words) {
  let score = 0
  for (const word of words) {
    const best = Math.max(
      weight(lower.title, word) * 6,
      weight(lower.heading, word) * 8,
      weight(lower.text, word),
    )
    if (best === 0) return 0
    score += best
  }
  return score * (WEIGHTS.find(([folder]) => folder.test(url))?.[1] ?? 0.5)
}

function weight(text, word) {
  const at = text.indexOf(word)
  if (at === -1) return 0
  return at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1]) ? 2 : 1
}

function resultOf({ url, title, heading, text }, words, at) {
  const item = document.createElement('li')
  item.setAttribute('role', 'option')
  item.id = `result-${at}`
  const link = document.createElement('a')
  link.href = root + url
  const name = document.createElement('b')
  name.textContent = heading === title ? title : `${title} › ${heading}`
  const excerpt = document.createElement('small')
  excerpt.append(...marked(excerptOf(text, words), words))
  link.append(name, excerpt)
  item.append(link)
  return item
}

function noResult() {
  const item = document.createElement('li')
  item.className = 'none'
  item.textContent = 'Nothing found. Try fewer or other words.'
  return item
}

function excerptOf(text, words) {
  const at = Math.min(
    ...words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0),
    text.length,
  )
  const start = at === text.length ? 0 : Math.max(0, at - 50)
  return `${start > 0 ? '…' : ''}${text.slice(start, start + 150)}${text.length > start + 150 ? '…' : ''}`
}

/** The text with the words in `<mark>`. */
function marked(text, words) {
  const pattern = words
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('|')
  return text.split(new RegExp(`(${pattern})`, 'gi')).map((part, at) => {
    if (at % 2 === 0) return part
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

function onKey(event) {
  const items = list.querySelectorAll('[role=option]')
  if (event.key === 'Escape') {
    close()
    input.blur()
  } else if (event.key === 'Enter') {
    items[selected]?.querySelector('a').click()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    const step = event.key === 'ArrowDown' ? 1 : -1
    if (items.length > 0) select((selected + step + items.length) % items.length)
  }
}

function select(at) {
  selected = at
  for (const [index, item] of [...list.querySelectorAll('[role=option]')].entries()) {
    item.setAttribute('aria-selected', String(index === at))
    if (index === at) item.scrollIntoView({ block: 'nearest' })
  }
  if (at === -1) input.removeAttribute('aria-activedescendant')
  else input.setAttribute('aria-activedescendant', `result-${at}`)
}

function close() {
  list.hidden = true
  input.setAttribute('aria-expanded', 'false')
  select(-1)
}
