import { useSignal } from '@preact/signals'
import type { ComponentType, JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { Skeleton } from '#app/components/skeleton.tsx'
import { loadTexts } from '#app/texts/texts.ts'

import { ScreenFailure } from './screen-failure.tsx'

export interface LazyProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
  /** Called when it is in the page. */
  readonly onShown?: () => void
}

type Loaded<Props> =
  | { readonly load: LazyProps<Props & object>['load']; readonly component: ComponentType<Props> }
  | { readonly load: LazyProps<Props & object>['load']; readonly error: unknown }

/** A component whose code and texts are loaded when it is shown. */
export function Lazy<Props extends object>({
  load,
  props,
  onShown,
}: LazyProps<Props>): JSX.Element {
  const loaded = useSignal<Loaded<Props> | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    const show = (next: Loaded<Props>) => {
      if (isCurrent) loaded.value = next
    }
    const loading = load().then(async (component) => {
      await loadTexts()
      show({ load, component })
    })
    loading.catch((error: unknown) => show({ load, error }))
    return () => {
      isCurrent = false
    }
  }, [load])
  const state = loaded.value
  const isReady = state?.load === load
  useEffect(() => {
    if (isReady) onShown?.()
  }, [isReady, load])
  if (!isReady) return <Skeleton lines={8} />
  if ('error' in state) return <ScreenFailure error={state.error} />
  const Component = state.component
  return <Component {...props} />
}
