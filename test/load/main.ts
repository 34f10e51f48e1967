import { USAGE, parseLoadOptions } from '#bench/load/load-options.ts'
import { InvalidLoadPlan } from '#bench/load/load-plan.ts'
import { runLoad } from '#bench/load/load-run.ts'
import { loadTable } from '#bench/load/load-table.ts'

/** Exit codes: 0 every answer as expected, 1 at least one was not, 2 nothing was sent because of the options. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  const { plan, json } = parseLoadOptions(args)
  const report = await runLoad(plan)
  console.log(json ? JSON.stringify(report, null, 2) : loadTable(report))
  return Object.keys(report.total.errors).length === 0 && report.total.succeeded > 0 ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!isUsageError(error)) throw error
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}

function isUsageError(error: unknown): error is Error {
  if (error instanceof InvalidLoadPlan) return true
  return (
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  )
}
