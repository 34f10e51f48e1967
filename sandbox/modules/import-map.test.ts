import { describe, expect, test } from 'vitest'

import { readImportMap } from './import-map.ts'

const DENO_JSON = `{
  // the names that functions use
  "imports": {
    "db": "./lib/db.ts",
    "lib/": "./lib/",
    "lib/deep/": "./deep/",
    "./old.ts": "./new.ts",
    "hono": "npm:hono@4",
    "out": "../outside.ts",
  },
  "scopes": { "./admin/": { "db": "./lib/admin-db.ts" }, "admin/root/": { "db": "./lib/root-db.ts" } }
}`

const mapOf = (files: Record<string, string>) => {
  const read = readImportMap(new Map(Object.entries(files)))
  if (!read.ok) throw new Error(read.message)
  return read.map
}

describe('the import map of an artifact', () => {
  test.each([
    ['db', 'functions/a.ts', '/lib/db.ts'],
    ['lib/x.ts', 'a.ts', '/lib/x.ts'],
    ['lib/deep/x.ts', 'a.ts', '/deep/x.ts'],
    ['lib/../../etc', 'a.ts', '/lib/../../etc'],
    ['../old.ts', 'functions/a.ts', '/new.ts'],
    ['./old.ts', 'functions/a.ts', undefined],
    ['hono', 'a.ts', 'npm:hono@4'],
    ['out', 'a.ts', '../outside.ts'],
    ['db', 'admin/a.ts', '/lib/admin-db.ts'],
    ['db', 'admin/root/a.ts', '/lib/root-db.ts'],
    ['lib/x.ts', 'admin/a.ts', '/lib/x.ts'],
    ['other', 'a.ts', undefined],
  ])('leads %s in %s to %s', (specifier, referrer, address) => {
    expect(mapOf({ 'deno.json': DENO_JSON }).resolve(specifier, referrer)).toBe(address)
  })

  test('is that of deno.jsonc, or of the file that is named', () => {
    expect(mapOf({ 'deno.jsonc': DENO_JSON }).resolve('db', 'a.ts')).toBe('/lib/db.ts')
    const named = {
      'deno.json': '{"importMap":"maps/m.json"}',
      'maps/m.json': '{"imports":{"x":"./x.ts"}}',
    }
    expect(mapOf(named).resolve('x', 'a.ts')).toBe('/maps/x.ts')
    expect(mapOf({}).resolve('x', 'a.ts')).toBe(undefined)
  })

  test.each([
    [{ 'deno.json': '{' }, '"deno.json" is no JSON object'],
    [{ 'deno.jsonc': '[]' }, '"deno.jsonc" is no JSON object'],
    [{ 'deno.json': '{"imports":{"a":5}}' }, '"deno.json" "imports" must be an object of texts'],
    [{ 'deno.json': '{"scopes":[]}' }, '"deno.json" "scopes" must be an object'],
    [
      { 'deno.json': '{"importMap":"m.json"}' },
      '"deno.json" names the import map "m.json", which is no JSON object',
    ],
  ])('that is none is refused: %j', (files, message) => {
    expect(readImportMap(new Map(Object.entries(files)))).toMatchObject({ ok: false, message })
  })
})
