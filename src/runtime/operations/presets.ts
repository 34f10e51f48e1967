/** Operations that answer without site code. */
export type PresetName = 'echo'

const TABLE_PRESETS = ['get', 'query', 'scan', 'put', 'update', 'delete'].map(
  (action) => `ddb.${action}`,
)
const BUCKET_PRESETS = [
  'list-objects',
  'get-object',
  'put-object',
  'delete-object',
  'presign-get-object',
  'presign-put-object',
].map((action) => `s3.${action}`)

/** Why a preset cannot be bound, or undefined when it can. */
export function presetFault(name: string): string | undefined {
  if (name === 'echo') return undefined
  if (TABLE_PRESETS.includes(name) || BUCKET_PRESETS.includes(name)) {
    const what = name.startsWith('ddb.') ? 'tables' : 'buckets'
    return `"${name}" is not served by this version: presets on ${what} are not implemented, bind a function instead`
  }
  return `"${name}" is not a preset: "echo" is the one that is served`
}
