/**
 * The one key of an object that does not stand for a map: `{ "$number": "1e40" }`, `{ "$binary": "…" }`,
 * `{ "$set": […] }`, and `{ "$map": {…} }` for a map whose only key would be one of these.
 */
export const MARKERS = {
  number: '$number',
  binary: '$binary',
  set: '$set',
  map: '$map',
} as const
type Marker = (typeof MARKERS)[keyof typeof MARKERS]

const NAMES: ReadonlySet<string> = new Set(Object.values(MARKERS))

export const isMarkerName = (name: string): name is Marker => NAMES.has(name)
