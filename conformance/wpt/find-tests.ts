import { glob, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { type Area, AREAS } from './areas.ts'
import { readTestFile, type TestFile } from './test-file.ts'

/** What can run without a document of its own. */
const RUNNABLE = /\.(?:any|window|worker)\.js$/
const NOT_TESTS = /(?:^|\/)(?:resources|support|crashtests)\//

/** The test files of an area below a folder of Web Platform Tests, by path. An area that is not there has none. */
export async function findTests(root: string, area: Area): Promise<TestFile[]> {
  const found = await Promise.all(AREAS[area].map((folder) => filesBelow(root, folder)))
  const paths = found.flat().filter((path) => RUNNABLE.test(path) && !NOT_TESTS.test(path))
  return Promise.all(
    paths
      .toSorted()
      .map(async (path) => readTestFile(path, await readFile(join(root, path), 'utf8'))),
  )
}

async function filesBelow(root: string, path: string): Promise<string[]> {
  const found = await stat(join(root, path)).catch(() => undefined)
  if (found === undefined) return []
  return found.isFile() ? [path] : Array.fromAsync(glob(`${path}/**/*.js`, { cwd: root }))
}
