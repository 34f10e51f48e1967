import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { HeadingIds } from './docs/heading-ids.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = [
  '*.md',
  '{docs,decisions,bench,examples,packages,conformance,deploy}/**/*.md',
  'test/**/*.md',
]
const MAX_RECORD_WORDS = 200
const FENCED = /^ *(```+)[^]*?^ *\1$/gm

interface Link {
  readonly path: string
  readonly anchor: string
}

/** Links of a page to files of this repository and to headings, outside its code blocks. */
const fileLinks = (text: string): Link[] =>
  [
    ...text
      .replaceAll(FENCED, '')
      .matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?[^)]*\)/g),
  ].map(([, path = '', anchor = '']) => ({ path, anchor }))

function anchorsOf(text: string): ReadonlySet<string> {
  const ids = new HeadingIds()
  const headings = text.replaceAll(FENCED, '').matchAll(/^#+ (.+)$/gm)
  return new Set([...headings].map(([, heading = '']) => ids.idOf(heading)))
}

test('links between the pages of this repository lead to files and headings that exist', async () => {
  const pages = await Array.fromAsync(glob(PAGES, { cwd: ROOT, exclude: ['**/node_modules/**'] }))
  const broken: string[] = []
  for (const page of pages) {
    for (const { path, anchor } of fileLinks(await readFile(join(ROOT, page), 'utf8'))) {
      const target = path === '' ? page : join(dirname(page), path)
      const exists = existsSync(join(ROOT, target))
      const hasAnchor = async () =>
        anchorsOf(await readFile(join(ROOT, target), 'utf8')).has(anchor)
      if (!exists) broken.push(`${page}: ${path}`)
      else if (anchor && target.endsWith('.md') && !(await hasAnchor())) {
        broken.push(`${page}: ${path}#${anchor}`)
      }
    }
  }
  expect(broken).toEqual([])
})

test('every decision is short, and in the index with its title', async () => {
  const index = await readFile(join(ROOT, 'decisions/README.md'), 'utf8')
  const records = await Array.fromAsync(glob('decisions/[0-9]*.md', { cwd: ROOT }))
  for (const record of records) {
    const [title = ''] = (await readFile(join(ROOT, record), 'utf8')).split('\n')
    expect(index).toContain(
      `(${record.slice('decisions/'.length)}): ${title.slice('# 000: '.length)}\n`,
    )
    const words = (await readFile(join(ROOT, record), 'utf8')).split(/\s+/).filter(Boolean)
    expect(words.length, record).toBeLessThanOrEqual(MAX_RECORD_WORDS)
  }
})

test('the files that the page about the architecture names exist', async () => {
  const text = await readFile(join(ROOT, 'docs/explanation/architecture.md'), 'utf8')
  const paths = [...text.matchAll(/`((?:src|sandbox)\/[^`\s]+)`/g)].flatMap(
    ([, path]) => path ?? [],
  )
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('the pages that sources and shipped files name exist', async () => {
  const sources = '{src,sandbox,scripts,bench,deploy,test}/**/*.{ts,yml,yaml,service,example}'
  const missing: string[] = []
  for await (const path of glob(sources, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
    const text = await readFile(join(ROOT, path), 'utf8')
    for (const [page] of text.matchAll(/(?<![\w-]\/)\bdocs\/[\w/-]+\.md\b/g)) {
      if (!existsSync(join(ROOT, page))) missing.push(`${path}: ${page}`)
    }
  }
  expect(missing).toEqual([])
})
