import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { filesOfEntry, withTargets } from './visible-files.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'croft-visible-'))
})
afterEach(() => rm(root, { recursive: true }))

async function addPackage(path: string, manifest: object): Promise<void> {
  await mkdir(join(root, path), { recursive: true })
  await writeFile(join(root, path, 'package.json'), JSON.stringify(manifest))
}

test('an entry reads its folder, the manifest above, and its packages with what they depend on', async () => {
  await addPackage('', { type: 'module' })
  await mkdir(join(root, 'sandbox'))
  const optionalDependencies = { nested: '1', 'other-platform': '1' }
  await addPackage('node_modules/piscina', { optionalDependencies })
  await addPackage('node_modules/piscina/node_modules/nested', { dependencies: { shared: '1' } })
  await addPackage('node_modules/shared', { dependencies: { piscina: '1' } })
  await addPackage('node_modules/never-imported', {})
  expect(filesOfEntry(join(root, 'sandbox/main.ts'))).toEqual(
    [
      'sandbox',
      'package.json',
      'node_modules/piscina',
      'node_modules/piscina/node_modules/nested',
      'node_modules/shared',
    ].map((path) => join(root, path)),
  )
})

test('links are followed, and folders come before what is in them', async () => {
  await mkdir(join(root, 'real/package'), { recursive: true })
  await symlink(join(root, 'real'), join(root, 'link'))
  const found = withTargets([join(root, 'link/package'), '/nowhere/at/all'])
  const [link = '', inside = '', real = ''] = ['link', 'link/package', 'real/package'].map((path) =>
    join(root, path),
  )
  expect(found.toSorted()).toEqual(['/nowhere/at/all', link, inside, real].toSorted())
  expect(found.indexOf(link)).toBeLessThan(found.indexOf(inside))
})
