import { glob, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'

import { Visitor, parseSync } from 'oxc-parser'
import { describe, expect, test } from 'vitest'

import { VARIABLES } from './environment-variables.ts'
import { readVariables } from './environment.ts'
import { ERROR_CAUSES } from './error-causes.ts'
import { OTHER_CAUSES } from './other-errors.ts'
import { referencePages } from './reference-pages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MAX_LINES = 400

/** Values of properties called `code`, in the service and the sandbox. */
async function codesInSources(): Promise<ReadonlySet<string>> {
  const codes = new Set<string>()
  const visitor = new Visitor({
    Property({ key, value }) {
      const isCode = key.type === 'Identifier' && key.name === 'code'
      if (!isCode || value.type !== 'Literal' || typeof value.value !== 'string') return
      if (/^(?:[A-Z][a-z]+)+$/.test(value.value)) codes.add(value.value)
    },
  })
  for await (const path of glob('{src,sandbox}/**/*.ts', { cwd: ROOT })) {
    if (path.endsWith('.test.ts')) continue
    visitor.visit(parseSync(path, await readFile(join(ROOT, path), 'utf8')).program)
  }
  return codes
}

describe('the generated reference', () => {
  test('is what "npm run reference" writes', async () => {
    for (const [path, text] of await referencePages()) {
      expect(await readFile(path, 'utf8'), `run "npm run reference": ${relative(ROOT, path)}`).toBe(
        text,
      )
    }
  })

  test('has every route of /admin and /portal that the table of routes has', async () => {
    const pages = [...(await referencePages()).values()].join('\n')
    const table = await readFile(join(ROOT, 'test/http/route-table.md'), 'utf8')
    const routes = [...table.matchAll(/^\| `([A-Z]+ \/(?:admin|portal)\/[^`]+)` +\| (?!refuses)/gm)]
      .map(([, route = '']) => route.replaceAll(/:(\w+)/g, '{$1}').replace(/\/$/, ''))
      .filter((route) => !route.endsWith('/{action}'))
    expect(routes.length).toBeGreaterThan(200)
    expect(routes.filter((route) => !pages.includes(route))).toEqual([])
  })

  test('has every environment variable that the loaders read, and no other', () => {
    const described = Object.values(VARIABLES).flatMap((variables) => Object.keys(variables))
    expect(described.toSorted()).toEqual([...readVariables().names].toSorted())
  })

  test('has every error code that the sources name', async () => {
    const codes = await codesInSources()
    expect(codes.size).toBeGreaterThan(10)
    const known = { ...ERROR_CAUSES, ...OTHER_CAUSES }
    expect([...codes].filter((code) => !(code in known))).toEqual([])
  })
})

test('no page of the documentation has more than 400 lines', async () => {
  const pages = await Array.fromAsync(glob(['README.md', 'docs/**/*.md'], { cwd: ROOT }))
  const long: string[] = []
  for (const page of pages) {
    const lines = (await readFile(join(ROOT, page), 'utf8')).split('\n').length - 1
    if (lines > (page === 'README.md' ? 200 : MAX_LINES)) long.push(`${page}: ${lines}`)
  }
  expect(long).toEqual([])
})
