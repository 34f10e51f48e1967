import type { JSX } from 'preact'

import { type KeySchema, keyAttributes } from './table-shape.ts'
import { t } from './texts.ts'

/** The attributes of a key with their types. */
export const KeyNames = ({ schema }: { readonly schema: KeySchema }): JSX.Element => (
  <span class="key-names">
    {keyAttributes(schema).map(({ name, type }) => (
      <span key={name}>
        <code>{name}</code> <span class="faint">{t(`type.${type}`)}</span>
      </span>
    ))}
  </span>
)
