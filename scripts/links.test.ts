import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const PAGES = ['*.md', 'docs/**/*.md', 'decisions/*.md', 'bench/*.md']

/** Targets of a page's links that are files of this repository. */
const fileLinks = (text: string): string[] =>
  [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)[^)]*\)/g)].flatMap(
    ([, target]) => target ?? [],
  )

test('links between the pages of this repository lead somewhere', async () => {
  const pages = await Array.fromAsync(glob(PAGES, { cwd: ROOT }))
  const broken: string[] = []
  for (const page of pages) {
    for (const target of fileLinks(await readFile(join(ROOT, page), 'utf8'))) {
      if (!existsSync(join(ROOT, dirname(page), target))) broken.push(`${page}: ${target}`)
    }
  }
  expect(broken).toEqual([])
})

test('every decision is in the index, with its title', async () => {
  const index = await readFile(join(ROOT, 'decisions/README.md'), 'utf8')
  const records = await Array.fromAsync(glob('decisions/[0-9]*.md', { cwd: ROOT }))
  for (const record of records) {
    const [title = ''] = (await readFile(join(ROOT, record), 'utf8')).split('\n')
    expect(index).toContain(
      `(${record.slice('decisions/'.length)}): ${title.slice('# 000: '.length)}\n`,
    )
  }
})

test.each(['GLOSSARY.md', 'docs/architecture.md'])(
  'the files that %s names are there',
  async (page) => {
    const text = await readFile(join(ROOT, page), 'utf8')
    const paths = [...text.matchAll(/`((?:src|sandbox)\/[^`\s]+)`/g)].flatMap(
      ([, path]) => path ?? [],
    )
    expect(paths.length).toBeGreaterThan(30)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  },
)
