import { escapeHtml } from './html.ts'
import type { MarkdownPage } from './markdown-page.ts'
import { type NavigationGroup, siteLink } from './site-map.ts'

interface PageOfSite {
  /** Its path in the repository. */
  readonly source: string
  readonly page: MarkdownPage
  readonly groups: readonly NavigationGroup[]
  readonly titles: ReadonlyMap<string, string>
}

/** No inline script or style: the policy holds on a web server and for a page that is opened from a folder. */
const POLICY =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' data:; base-uri 'none'; form-action 'none'"

export function pageHtml({ source, page, groups, titles }: PageOfSite): string {
  const root = siteLink(source, 'docs.md').replace(/docs\.html$/, '')
  const title = page.title === 'Croft' ? 'Croft' : `${page.title} · Croft`
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${root}docs.css">
<script src="${root}docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="${siteLink(source, 'README.md')}">Croft</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<kbd>/</kbd>
<ul id="results" role="listbox" aria-label="Results" hidden></ul>
</div>
</header>
<div class="layout">
<details class="sidebar" id="pages" open><summary>Pages</summary><nav aria-label="Pages">
${groups.map((group) => groupHtml(group, source, titles)).join('\n')}
</nav></details>
<main id="content">
<article>
${page.html}</article>
${neighboursHtml(source, groups, titles)}
</main>
${contentsHtml(page)}
</div>
</body>
</html>
`
}

function groupHtml(
  { title, pages }: NavigationGroup,
  source: string,
  titles: ReadonlyMap<string, string>,
): string {
  const items = pages.map((page) => {
    const current = page === source ? ' aria-current="page"' : ''
    return `<li><a href="${siteLink(source, page)}"${current}>${titleOf(page, titles)}</a></li>`
  })
  return `<h2>${title}</h2><ul>${items.join('')}</ul>`
}

const titleOf = (page: string, titles: ReadonlyMap<string, string>): string =>
  escapeHtml(page === 'README.md' ? 'Overview' : (titles.get(page) ?? page))

function neighboursHtml(
  source: string,
  groups: readonly NavigationGroup[],
  titles: ReadonlyMap<string, string>,
): string {
  const pages = groups.flatMap((group) => group.pages)
  const at = pages.indexOf(source)
  if (at === -1) return ''
  const link = (page: string | undefined, words: string, rel: string): string =>
    page === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${siteLink(source, page)}"><small>${words}</small>${titleOf(page, titles)}</a>`
  return `<nav class="neighbours" aria-label="Previous and next page">${link(pages[at - 1], 'Previous', 'prev')}${link(pages[at + 1], 'Next', 'next')}</nav>`
}

function contentsHtml({ headings }: MarkdownPage): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return ''
  const items = shown.map(
    ({ depth, id, text }) =>
      `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  )
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}
