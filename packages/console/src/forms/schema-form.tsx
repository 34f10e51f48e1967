import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import { useGet } from '#app/api/resources.ts'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'

import { SelectField, SwitchField, TextField } from './fields.tsx'
import { Form, type FormState, useForm } from './form.tsx'
import {
  type FieldValues,
  type JsonSchema,
  type SchemaField,
  bodyOf,
  fieldsOf,
  valuesOf,
} from './schema-fields.ts'

export interface SchemaFormProps {
  /** Of the route whose body the form is. */
  readonly method: 'post' | 'put' | 'patch'
  /** With names in braces. */
  readonly path: string
  /** What is there now. */
  readonly value: unknown
  /** Rejects with what the API says. */
  readonly submit: (body: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly action: string
  /** In the reader's language, by name; the others are written after the name. */
  readonly labels?: Readonly<Record<string, string>>
  /** Properties that the screen shows otherwise. */
  readonly without?: readonly string[]
}

/** The body of a route as a form, by its schema: a setting that the route gains later is there without further code. */
export function SchemaForm(props: SchemaFormProps): JSX.Element {
  const document = useGet('/admin/openapi.json')
  const { method, path, without = [] } = props
  const fields = useMemo(() => {
    const whole = { ...Object(document.value) } as JsonSchema
    const schema = bodySchema(whole, method, path)
    return schema && fieldsOf(schema, whole).filter(({ name }) => !without.includes(name))
  }, [document.value, method, path])
  if (document.problem) return <ProblemNote problem={document.problem} onRetry={document.reload} />
  if (document.value === undefined || fields === undefined) return <Skeleton />
  return <LoadedForm {...props} fields={fields} />
}

type LoadedProps = SchemaFormProps & { readonly fields: readonly SchemaField[] }

function LoadedForm({
  method,
  path,
  value,
  submit,
  action,
  labels = {},
  fields,
}: LoadedProps): JSX.Element {
  const form = useForm<FieldValues>({
    name: `${method} ${path}`,
    initial: valuesOf(fields, value),
    submit: async (values) => submit(bodyOf(fields, values)),
  })
  return (
    <Form form={form} action={action} needsChange>
      {fields.map((field) => (
        <SchemaControl key={field.name} form={form} field={field} labels={labels} />
      ))}
    </Form>
  )
}

interface ControlProps {
  readonly form: FormState<FieldValues>
  readonly field: SchemaField
  readonly labels: Readonly<Record<string, string>>
}

function SchemaControl({ form, field, labels }: ControlProps): JSX.Element {
  const label = labels[field.name] ?? field.label
  const about = { form, name: field.name, label, hint: field.hint }
  if (field.kind === 'boolean') return <SwitchField {...about} />
  if (field.kind === 'choice') {
    return <SelectField {...about} choices={choicesOf(field.choices, isNeeded(field))} />
  }
  if (field.kind !== 'group') return <TextField {...about} {...inputOf(field)} />
  return (
    <fieldset class="field-group">
      <legend class="field-label">{label}</legend>
      {field.fields.map((inner) => (
        <SchemaControl key={inner.name} form={form} field={inner} labels={labels} />
      ))}
    </fieldset>
  )
}

const isNeeded = (field: SchemaField): boolean => field.isRequired && !field.isNullable

type TextKind = Exclude<SchemaField['kind'], 'boolean' | 'choice' | 'group'>

/** The kind of input, and what the browser checks before anything is sent. */
function inputOf(field: Extract<SchemaField, { readonly kind: TextKind }>) {
  const required = isNeeded(field)
  switch (field.kind) {
    case 'lines':
      return { rows: 4, isCode: true }
    case 'json':
      return { rows: 6, isCode: true, required }
    case 'number': {
      const { min, max, step } = field
      return { type: 'number', required, min, max, step } as const
    }
    case 'text': {
      const { maxLength, pattern, format = '' } = field
      return { type: TYPES[format] ?? 'text', required, maxLength, pattern } as const
    }
    default:
      return field satisfies never
  }
}

const TYPES: Readonly<Record<string, 'email' | 'url'>> = { email: 'email', uri: 'url' }

const choicesOf = (choices: readonly string[], required: boolean) =>
  [...(required ? [] : ['']), ...choices].map((value) => ({ value, label: value || '—' }))

/** The schema of the JSON that a route takes. */
function bodySchema(document: JsonSchema, method: string, path: string): JsonSchema | undefined {
  const names = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema']
  const found = names.reduce<unknown>((value, name) => Reflect.get(Object(value), name), document)
  return typeof found === 'object' && found !== null ? { ...found } : undefined
}
