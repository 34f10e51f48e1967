import { dirname, join, relative } from 'node:path/posix'

/** The pages of the site, by their paths in the repository. */
export const PAGE_PATTERNS = [
  '*.md',
  '{docs,decisions,bench,examples,conformance,deploy,packages}/**/*.md',
]

/** Where a page of the repository is on the site: beside the others as there, `README.md` as the page of its folder. */
export const siteFile = (source: string): string =>
  source.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html')

/** The address of one page of the site on another, and what follows a `#`. */
export function siteLink(from: string, to: string, anchor = ''): string {
  if (from === to && anchor !== '') return `#${anchor}`
  const path = relative(dirname(siteFile(from)), siteFile(to))
  return anchor === '' ? path : `${path}#${anchor}`
}

export interface NavigationGroup {
  readonly title: string
  readonly pages: readonly string[]
}

const KINDS = [
  ['Tutorials', 'docs/tutorials/'],
  ['How to', 'docs/how-to/'],
  ['Reference', 'docs/reference/'],
  ['Explanation', 'docs/explanation/'],
] as const
const PROJECT = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'decisions/README.md']

/** The pages in the order of the sidebar: that of `docs/README.md` within a kind, and after it the ones that it leaves out. */
export function navigation(
  sources: ReadonlySet<string>,
  index: { readonly path: string; readonly text: string },
): NavigationGroup[] {
  const listed = [...index.text.matchAll(/\]\(([^)#\s]+\.md)\)/g)].map(([, path = '']) =>
    join(dirname(index.path), path),
  )
  const groups = KINDS.map(([title, folder]) => {
    const inFolder = [...sources].filter((source) => source.startsWith(folder)).toSorted()
    const ordered = listed.filter((source) => inFolder.includes(source))
    return { title, pages: [...new Set([...ordered, ...inFolder])] }
  })
  return [
    { title: 'Croft', pages: ['README.md', index.path].filter((source) => sources.has(source)) },
    ...groups,
    { title: 'Project', pages: PROJECT.filter((source) => sources.has(source)) },
  ]
}
