import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { docsSite } from './docs-site.ts'

async function siteOf(pages: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const root = await mkdtemp(join(tmpdir(), 'croft-docs-'))
  onTestFinished(() => rm(root, { recursive: true }))
  for (const [path, text] of Object.entries(pages)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return docsSite(root)
}

const page = (name: string): string => join('docs', 'how-to', `${name}.md`)

const INDEX = '# Documentation\n\n- [Second](how-to/b.md)\n- [First](how-to/a.md#one)\n'

describe('the site of the documentation', () => {
  test('has a page for each page of the repository, whose links lead to each other', async () => {
    const files = await siteOf({
      'README.md':
        '# Croft\n\nSee [the documentation](docs/README.md) and [sources](src/main.ts).\n',
      'docs/README.md': INDEX,
      [page('a')]: '# First\n\nBack [up](../README.md), [below](#one).\n\n## One\n\nText.\n',
      [page('b')]: '# Second\n\n[One](a.md#one), [out](https://example.com/).\n',
    })
    expect(files.get('index.html')).toContain('<a href="docs/index.html">the documentation</a>')
    expect(files.get('index.html')).toContain('and sources.')
    const first = files.get('docs/how-to/a.html') ?? ''
    expect(first).toContain('<a href="../index.html">up</a>, <a href="#one">below</a>')
    expect(first).toContain('<h2 id="one">One')
    expect(first).toContain('<link rel="stylesheet" href="../../docs.css">')
    expect(files.get('docs/how-to/b.html')).toContain('<a href="a.html#one">One</a>')
    expect(files.get('docs/how-to/b.html')).toContain('<a href="https://example.com/">out</a>')
  })

  test('has its pages in the order of the index, with the next and the one before', async () => {
    const files = await siteOf({
      'README.md': '# Croft\n',
      'docs/README.md': INDEX,
      [page('a')]: '# First\n\n## One\n',
      [page('b')]: '# Second\n',
      [page('c')]: '# Third\n',
    })
    const second = files.get('docs/how-to/b.html') ?? ''
    expect(second.match(/<a rel="\w+" href="[^"]+">/g)).toEqual([
      '<a rel="prev" href="../index.html">',
      '<a rel="next" href="a.html">',
    ])
    expect(second).toContain('<a href="b.html" aria-current="page">Second</a>')
    expect(second.indexOf('>First</a>')).toBeLessThan(second.indexOf('>Third</a>'))
  })

  test('shows HTML of a page as text, and no comment', async () => {
    const files = await siteOf({
      'README.md':
        '# Croft\n\n<!-- not run -->\n\nA <script>alert(1)</script> tag.\n\n```html\n<b>x</b>\n```\n',
      'docs/README.md': '# Documentation\n',
    })
    const shown = files.get('index.html') ?? ''
    expect(shown).not.toContain('not run')
    expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(shown).toContain('<code data-language="html">&lt;b&gt;x&lt;/b&gt;</code>')
  })

  test('is not built with a link to a heading that is not there', async () => {
    const broken = siteOf({ 'README.md': '# Croft\n\n[x](#nowhere)\n', 'docs/README.md': '# D\n' })
    await expect(broken).rejects.toThrow('README.md: README.md has no heading #nowhere')
  })

  test('is searched by sections', async () => {
    const files = await siteOf({
      'README.md':
        '# Croft\n\nIntro.\n\n## Start\n\n| a | b |\n|---|---|\n| one | `two` |\n\n- three\n- four\n',
      'docs/README.md': '# Documentation\n',
    })
    const source = files.get('search-index.js') ?? ''
    const [first, second] = JSON.parse(source.slice('globalThis.croftDocs = '.length))
    expect(first).toEqual(['index.html', 'Croft', 'Croft', 'Intro.'])
    expect(second).toEqual(['index.html#start', 'Croft', 'Start', 'a b one two three four'])
  })

  test('is built of the pages of this repository', async () => {
    const files = await docsSite(resolve(import.meta.dirname, '../..'))
    expect(files.size).toBeGreaterThan(50)
    expect(files.get('docs/reference/errors.html')).toContain('MailboxNotFound')
  })
})
