import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'

import { doubledRoutes, tableRoutes } from './structure/doubled-routes.ts'
import { productModules } from './structure/product-modules.ts'
import { sharedExports, featureCycles } from './structure/rules.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { install: { type: 'boolean', default: false } },
})
const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)
/** Types that say who does something. */
const ACTOR_TYPE = /(?:Actor|Editor|(?:Actor|Authority|StepUp)Context|MailReader)$/
type Figures = Readonly<Record<string, number | string>>

/** Prints the size of the product at each revision named (HEAD when none is), side by side; `--install` times `npm ci` too. */
const revisions = positionals.length > 0 ? positionals : ['HEAD']
const columns: Figures[] = []
for (const revision of revisions) columns.push(await figuresOf(revision))
console.log(`| figure | ${revisions.join(' | ')} |\n|---|${'---:|'.repeat(revisions.length)}`)
for (const name of Object.keys(columns[0] ?? {})) {
  console.log(`| ${name} | ${columns.map((figures) => figures[name]).join(' | ')} |`)
}

async function figuresOf(revision: string): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-figures-'))
  try {
    const archive = join(folder, 'tree.tar')
    await run('git', ['archive', '-o', archive, revision], { cwd: root })
    await run('tar', ['-xf', archive], { cwd: folder })
    return {
      ...(await codeFigures(folder)),
      ...(values.install ? await installFigures(folder) : {}),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function codeFigures(folder: string): Promise<Figures> {
  const modules = await productModules(folder)
  const importers = new Map<string, number>()
  for (const { imports } of modules) {
    for (const path of imports) importers.set(path, (importers.get(path) ?? 0) + 1)
  }
  const cycles = featureCycles(modules)
  const linesOf = (some: typeof modules) => some.reduce((sum, { lines }) => sum + lines, 0)
  const types = modules.flatMap((module) => module.types)
  return {
    'lines of product code': linesOf(modules.filter(({ isGenerated }) => !isGenerated)),
    'lines that scripts write': linesOf(modules.filter(({ isGenerated }) => isGenerated)),
    files: modules.length,
    'files with a single importer': modules.filter(({ path }) => importers.get(path) === 1).length,
    'exported names of two layers': sharedExports(modules).size,
    'routes declared for admins and again for the operator': doubledRoutes(
      tableRoutes(await readFile(join(folder, 'test/http/route-table.md'), 'utf8')),
    ).length,
    'types of actors': types.filter((name) => ACTOR_TYPE.test(name)).length,
    '`*Deps` types': types.filter((name) => name.endsWith('Deps')).length,
    'cycles of features (features in them)': `${cycles.length} (${cycles.flat().length})`,
  }
}

async function installFigures(folder: string): Promise<Figures> {
  const startedAt = performance.now()
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder })
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const all = await megabytesOf(join(folder, 'node_modules'))
  await run('node', ['scripts/build.ts'], {
    cwd: folder,
    env: { ...process.env, PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}` },
  })
  const dist = join(folder, 'dist')
  await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: dist })
  return {
    'npm ci, seconds': seconds,
    'npm ci, MB': all,
    'production install, MB': await megabytesOf(dist),
  }
}

async function megabytesOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sm', folder])
  return Number.parseInt(stdout, 10)
}
