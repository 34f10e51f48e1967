import type { TProperties } from '@sinclair/typebox'
import { t } from 'elysia'

/**
 * The query of a page that mail links to: parameters that mail programs and link trackers add, such as `utm_source`, are
 * ignored there. Other routes refuse what they do not know.
 */
export const mailedLink = <Properties extends TProperties>(properties: Properties) =>
  t.Object(properties, { additionalProperties: true })
