import { invalid } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import {
  type PresetBinding,
  allowedFields,
  isMapField,
} from '#runtime/operations/preset-binding.ts'
import type { Preset } from '#runtime/operations/presets.ts'
import {
  type RequestFields,
  camelCase,
  readRequestFields,
} from '#runtime/tables/api/request-fields.ts'

/**
 * The action's input: what the caller may send, under what is fixed. Of the fields that are maps the fixed entries win;
 * any other field that the caller may not send is refused by name.
 */
export function presetRequest(
  binding: PresetBinding,
  { fields }: Preset,
  payload: unknown,
): RequestFields {
  const { fixed = {} } = binding
  const sent = payload ?? {}
  if (!isJsonObject(sent)) throw invalid('payload', 'must be a JSON object')
  const allowed = allowedFields(binding)
  for (const name of Object.keys(sent)) {
    const field = camelCase(name)
    if (Object.hasOwn(fixed, field) && !allowed.includes(field)) {
      throw invalid(`payload.${field}`, 'is fixed by this operation: leave it out')
    }
  }
  const rules = allowed.flatMap((name) => {
    const rule = fields.get(name)
    return rule ? [[name, rule] as const] : []
  })
  const read = readRequestFields(
    { required: {}, optional: Object.fromEntries(rules) },
    sent,
    'payload',
  )
  return merged(read, fixed)
}

function merged(sent: RequestFields, fixed: RequestFields): RequestFields {
  const all = new Map(Object.entries(sent))
  for (const [name, value] of Object.entries(fixed)) {
    const own = all.get(name)
    all.set(
      name,
      isMapField(name) && isJsonObject(own) && isJsonObject(value) ? { ...own, ...value } : value,
    )
  }
  return Object.fromEntries(all)
}
