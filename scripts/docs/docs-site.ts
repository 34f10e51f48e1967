import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path/posix'

import { type LinkResolver, type MarkdownPage, markdownPage } from './markdown-page.ts'
import { pageHtml } from './page-template.ts'
import { PAGE_PATTERNS, navigation, siteFile, siteLink } from './site-map.ts'

const INDEX = 'docs/README.md'
const ASSETS = ['docs.css', 'docs.js'] as const

/** Builds the documentation as files of a static site, by path. Throws an Error that lists links to headings that do not exist. */
export async function docsSite(root: string): Promise<Map<string, string>> {
  const found = await Array.fromAsync(
    glob(PAGE_PATTERNS, { cwd: root, exclude: ['**/node_modules/**'] }),
  )
  const texts = new Map<string, string>()
  for (const source of found.toSorted())
    texts.set(source, await readFile(join(root, source), 'utf8'))
  const pages = renderedPages(texts)
  const groups = navigation(new Set(texts.keys()), { path: INDEX, text: texts.get(INDEX) ?? '' })
  const titles = new Map([...pages].map(([source, { title }]) => [source, title || source]))
  const files = new Map<string, string>()
  for (const [source, page] of pages) {
    files.set(siteFile(source), pageHtml({ source, page, groups, titles }))
  }
  for (const name of ASSETS) {
    files.set(name, await readFile(join(import.meta.dirname, 'site', name), 'utf8'))
  }
  files.set('search-index.js', searchIndex(pages))
  return files
}

function renderedPages(texts: ReadonlyMap<string, string>): Map<string, MarkdownPage> {
  const links: { readonly from: string; readonly to: string; readonly anchor: string }[] = []
  const pages = new Map<string, MarkdownPage>()
  for (const [source, text] of texts) {
    const resolveLink: LinkResolver = (href) => {
      if (/^(?:https?|mailto):/.test(href)) return href
      const [path = '', anchor = ''] = href.split('#')
      const named = path === '' ? source : join(dirname(source), path)
      const to = texts.has(named) ? named : join(named, 'README.md')
      // A file of the sources, which is not on the site.
      if (!texts.has(to)) return undefined
      links.push({ from: source, to, anchor })
      return siteLink(source, to, anchor)
    }
    pages.set(source, markdownPage(text, resolveLink))
  }
  const broken = links.filter(
    ({ to, anchor }) => anchor !== '' && !pages.get(to)?.headings.some(({ id }) => id === anchor),
  )
  if (broken.length > 0) {
    const lines = broken.map(({ from, to, anchor }) => `${from}: ${to} has no heading #${anchor}`)
    throw new Error(`Links of the documentation lead to nothing:\n${lines.join('\n')}`)
  }
  return pages
}

/** A script and no JSON, so that a page that is opened from a folder can load it too. */
function searchIndex(pages: ReadonlyMap<string, MarkdownPage>): string {
  const entries = [...pages].flatMap(([source, { title, sections }]) =>
    sections.map(({ id, heading, text }) => [
      id === '' ? siteFile(source) : `${siteFile(source)}#${id}`,
      title,
      heading,
      text,
    ]),
  )
  return `globalThis.croftDocs = ${JSON.stringify(entries)}\n`
}
