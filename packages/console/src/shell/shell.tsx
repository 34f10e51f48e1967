import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { isOffline } from '#app/api/api.ts'
import { IconButton } from '#app/components/button.tsx'
import { Icon } from '#app/components/icon.tsx'
import { Menu } from '#app/components/menu.tsx'
import { Toasts } from '#app/components/toasts.tsx'
import type { ConsoleConfig } from '#app/console-config.ts'
import { currentPath } from '#app/router/router.ts'
import { AREAS, SCREENS, type Screen, isFor } from '#app/screens.ts'
import { currentSession } from '#app/session/current-session.ts'
import { LANGUAGE_NAMES } from '#app/texts/languages.ts'
import { t } from '#app/texts/shell.ts'
import { currentLanguage } from '#app/texts/texts.ts'

import { CurrentScreen } from './current-screen.tsx'
import { Overlays } from './overlays.tsx'
import { chooseLanguage, languagesOf } from './reader-language.ts'
import { overlay } from './shortcuts.ts'
import { THEMES, currentTheme, setTheme } from './theme.ts'

/** Navigation, top bar, the current screen, and what lies over it. */
export function Shell({ config }: { readonly config: ConsoleConfig }): JSX.Element {
  const isOpen = useSignal(false)
  const path = currentPath.value
  useEffect(() => {
    isOpen.value = false
  }, [path])
  return (
    <>
      <a class="skip-link" href="#content">
        {t('shell.skip')}
      </a>
      <div class={isOpen.value ? 'shell is-open' : 'shell'}>
        <header class="top-bar">
          <IconButton
            class="narrow-only"
            icon={isOpen.value ? 'close' : 'menu'}
            label={isOpen.value ? t('dialog.close') : t('shell.open-navigation')}
            onClick={() => (isOpen.value = !isOpen.value)}
          />
          <a class="site-name" href="/">
            <span class="site-mark" aria-hidden="true">
              {config.domain.slice(0, 1).toUpperCase()}
            </span>
            <span class="site-domain">{config.domain}</span>
          </a>
          <button
            class="find"
            type="button"
            aria-keyshortcuts="Control+K Meta+K"
            onClick={() => (overlay.value = 'palette')}
          >
            <Icon name="search" />
            <span>{t('shell.search')}</span>
            <kbd aria-hidden="true">Ctrl K</kbd>
          </button>
          <TopMenus config={config} />
        </header>
        <Navigation />
        <main id="content" class="content" tabIndex={-1}>
          {isOffline.value && (
            <p class="offline" role="status">
              <Icon name="warning" />
              {t('shell.offline')}
            </p>
          )}
          <CurrentScreen siteName={config.domain} />
        </main>
      </div>
      <Overlays />
      <Toasts />
    </>
  )
}

function Navigation(): JSX.Element {
  const role = currentSession().account.value?.role ?? 'user'
  const shown = SCREENS.filter((screen) => screen.icon !== undefined && isFor(screen, role))
  return (
    <nav class="navigation" aria-label={t('shell.navigation')}>
      {AREAS.map((area) => {
        const screens = shown.filter((screen) => screen.area === area)
        if (screens.length === 0) return null
        return (
          <div key={area} class="navigation-area">
            <h2>{t(`area.${area}`)}</h2>
            <ul>
              {screens.map((screen) => (
                <li key={screen.path}>
                  <NavigationLink screen={screen} />
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

function NavigationLink({ screen }: { readonly screen: Screen }): JSX.Element {
  const path = currentPath.value
  const isWithin = screen.path !== '/' && path.startsWith(`${screen.path}/`)
  const current = path === screen.path ? 'page' : isWithin ? 'true' : undefined
  return (
    <a href={screen.path} aria-current={current}>
      <Icon name={screen.icon ?? 'home'} />
      {t(screen.title)}
    </a>
  )
}

function TopMenus({ config }: { readonly config: ConsoleConfig }): JSX.Element {
  const session = currentSession()
  const account = session.account.value
  const role = account?.role ?? 'user'
  return (
    <div class="top-menus">
      <Menu
        label={t('shell.theme')}
        items={THEMES.map((theme) => ({
          label: t(`shell.theme-${theme}`),
          isChecked: currentTheme() === theme,
          onSelect: () => setTheme(theme),
        }))}
      >
        <Icon name="contrast" />
      </Menu>
      <Menu
        label={t('shell.language')}
        items={languagesOf(config).map((language) => ({
          label: LANGUAGE_NAMES[language],
          isChecked: currentLanguage() === language,
          onSelect: async () => chooseLanguage(language),
        }))}
      >
        <Icon name="globe" />
      </Menu>
      <Menu
        label={t('shell.account')}
        heading={
          <>
            <strong>{account?.email}</strong>
            <span class="faint">{t(`role.${role}`)}</span>
          </>
        }
        items={[
          { label: t('shell.own-account'), icon: 'people', href: `${config.issuer}/account` },
          { label: t('shell.keys'), icon: 'keyboard', onSelect: () => (overlay.value = 'keys') },
          { label: t('shell.sign-out'), icon: 'sign-out', onSelect: () => session.signOut() },
        ]}
      >
        <Icon name="people" />
      </Menu>
    </div>
  )
}
