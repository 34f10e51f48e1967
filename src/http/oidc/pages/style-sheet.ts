/** The backgrounds of words and buttons, in each scheme. */
export const GROUNDS = {
  light: { ground: '#f6f6f7', surface: '#ffffff', field: '#ffffff', ink: '#17171c' },
  dark: { ground: '#0d0d10', surface: '#16161a', field: '#1d1d22', ink: '#f0f0f3' },
}
const { light, dark } = GROUNDS

/** The style sheet of all pages: light and dark, from 320 px on. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --ground: ${light.ground};
  --surface: ${light.surface};
  --line: #e4e4e8;
  --field: ${light.field};
  --field-line: #8e8e99;
  --ink: ${light.ink};
  --muted: #5c5c68;
  --button-line: transparent;
  --button: #1c1c22;
  --button-over: #34343d;
  --button-ink: #ffffff;
  --link: #3f46c8;
  --focus: #5157e0;
  --bad: #b3261e;
  --bad-ground: #fdf1f0;
  --bad-line: #f3cfcc;
  --good: #14683a;
  --good-ground: #eef8f1;
  --good-line: #c5e5d0;
  --shadow: 0 1px 2px rgb(23 23 28 / 4%), 0 12px 32px -12px rgb(23 23 28 / 12%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: ${dark.ground};
    --surface: ${dark.surface};
    --line: #27272e;
    --field: ${dark.field};
    --field-line: #6b6b78;
    --ink: ${dark.ink};
    --muted: #a3a3af;
    --button: #f0f0f3;
    --button-over: #d3d3da;
    --button-ink: #16161a;
    --link: #a9aefc;
    --focus: #8f95f8;
    --bad: #ffaaa3;
    --bad-ground: #2a1716;
    --bad-line: #4a2523;
    --good: #8fdcaa;
    --good-ground: #12241a;
    --good-line: #1f3f2c;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 16px 40px -16px rgb(0 0 0 / 60%);
  }
}
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100dvh;
  display: grid;
  grid-template-rows: 1fr auto 1.35fr;
  justify-items: center;
  padding: 24px 16px;
  background: var(--ground);
  color: var(--ink);
  font: 400 15px/1.55 Inter, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, system-ui, sans-serif;
  -webkit-font-smoothing: antialiased;
  -moz-osx-font-smoothing: grayscale;
}
main {
  grid-row: 2;
  width: 100%;
  max-width: 416px;
  min-width: 0;
  padding: 40px;
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: 20px;
  box-shadow: var(--shadow);
}
main.wide { max-width: 560px; }
header { margin-bottom: 28px; }
h1 {
  margin: 0;
  font-size: 23px;
  font-weight: 620;
  line-height: 1.25;
  letter-spacing: -0.018em;
  text-wrap: balance;
}
h1, p, li, .site { overflow-wrap: anywhere; }
p { margin: 0; }
.lead { margin-top: 8px; font-size: 15.5px; color: var(--muted); text-wrap: pretty; }
.lead b { color: var(--ink); font-weight: 550; }
.site {
  display: flex;
  align-items: center;
  gap: 10px;
  margin-bottom: 28px;
  color: var(--muted);
  font-size: 14px;
  font-weight: 500;
  line-height: 1.3;
}
.mark {
  flex: none;
  width: 32px;
  height: 32px;
  border-radius: 9px;
  display: grid;
  place-items: center;
  color: #ffffff;
  font-size: 15px;
  font-weight: 650;
  line-height: 1;
  text-transform: uppercase;
}
.learns { margin: 8px 0 24px; padding-left: 20px; color: var(--ink); }
.emblem { display: block; width: 56px; height: 56px; margin-bottom: 16px; border-radius: 12px; object-fit: contain; }
.mark.own { border: 1px solid var(--button-line); background: var(--button); color: var(--button-ink); }
img.mark { object-fit: contain; }
.mark-0 { background: #4a4fcf; }
.mark-1 { background: #7541c2; }
.mark-2 { background: #a83279; }
.mark-3 { background: #b3402f; }
.mark-4 { background: #8a5a13; }
.mark-5 { background: #2c7042; }
.mark-6 { background: #0d6e77; }
.mark-7 { background: #2563ae; }
form { display: grid; gap: 20px; margin: 0; }
.field { display: grid; gap: 6px; }
.field > * { min-width: 0; }
label { font-size: 14px; font-weight: 550; line-height: 20px; }
input {
  appearance: none;
  width: 100%;
  min-height: 46px;
  margin: 0;
  padding: 10px 13px;
  border: 1px solid var(--field-line);
  border-radius: 11px;
  background: var(--field);
  color: var(--ink);
  font: inherit;
  font-size: 16px;
  line-height: 24px;
}
input[readonly] { background: var(--ground); color: var(--muted); }
input:hover { border-color: var(--muted); }
input:autofill { box-shadow: inset 0 0 0 100px var(--field); -webkit-text-fill-color: var(--ink); caret-color: var(--ink); }
input[aria-invalid="true"] { border-color: var(--bad); }
input.code {
  min-height: 56px;
  font-size: 24px;
  font-weight: 550;
  font-variant-numeric: tabular-nums;
  letter-spacing: 0.32em;
}
.hint, .fault { font-size: 13.5px; line-height: 1.45; }
.hint { color: var(--muted); }
.fault { color: var(--bad); }
.fault ul { margin: 0; padding: 0; list-style: none; }
.button {
  appearance: none;
  display: flex;
  align-items: center;
  justify-content: center;
  gap: 10px;
  width: 100%;
  min-height: 46px;
  margin: 0;
  padding: 10px 18px;
  border: 1px solid var(--button-line);
  border-radius: 11px;
  background: var(--button);
  color: var(--button-ink);
  font: inherit;
  font-weight: 560;
  line-height: 24px;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
  transition: background-color 0.12s;
}
.button:hover { background: var(--button-over); }
.button.plain { background: var(--surface); border-color: var(--field-line); color: var(--ink); }
.button.plain:hover { background: var(--ground); }
.button svg { flex: none; }
.link {
  appearance: none;
  display: inline-block;
  min-width: 44px;
  margin: -12px 0;
  padding: 12px 0;
  border: 0;
  background: none;
  color: var(--link);
  font: inherit;
  font-weight: 520;
  line-height: 20px;
  text-decoration: none;
  cursor: pointer;
}
.link:hover { text-decoration: underline; text-underline-offset: 3px; }
input:focus-visible, .button:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
input:focus-visible { outline-offset: -1px; border-color: var(--focus); }
.link:focus-visible { outline: 2px solid var(--focus); outline-offset: -6px; border-radius: 12px; }
.or {
  display: flex;
  align-items: center;
  gap: 14px;
  margin: 22px 0;
  color: var(--muted);
  font-size: 13px;
}
.or::before, .or::after { content: ""; flex: 1; height: 1px; background: var(--line); }
.alert {
  margin: -4px 0 24px;
  padding: 12px 14px;
  border: 1px solid var(--bad-line);
  border-radius: 11px;
  background: var(--bad-ground);
  color: var(--bad);
  font-size: 14px;
  line-height: 1.5;
}
.alert.good { border-color: var(--good-line); background: var(--good-ground); color: var(--good); }
.more { margin-top: 28px; padding-top: 20px; border-top: 1px solid var(--line); color: var(--muted); font-size: 14px; text-align: center; }
.more p + p { margin-top: 16px; }
.badge {
  display: grid;
  place-items: center;
  width: 44px;
  height: 44px;
  margin-bottom: 20px;
  border-radius: 50%;
  background: var(--good-ground);
  color: var(--good);
}
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.badge.plain { background: var(--ground); color: var(--muted); }
.actions { display: grid; gap: 12px; }
.qr { width: 208px; margin: 0 auto 16px; padding: 12px; border-radius: 11px; background: #ffffff; }
.qr svg { display: block; width: 100%; height: auto; fill: #000000; }
.qr-words { margin-bottom: 24px; }
.key { display: block; margin-top: 8px; color: var(--ink); font-weight: 550; font-variant-numeric: tabular-nums; }
.codes { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 8px 24px; margin: 0 0 28px; padding: 0; list-style: none; font: 500 15px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.show { justify-self: end; }
form[data-passkey] { gap: 0; }
form[data-passkey] > .field { margin-bottom: 20px; }
form[data-passkey]:not([hidden]) + .without-passkeys, [data-proof]:not([hidden]) + .without-passkeys { display: none; }
.without-passkeys { margin: 0; }
.rows { margin: 0; padding: 0; list-style: none; }
.row { display: flex; align-items: center; gap: 16px; padding: 14px 0; border-top: 1px solid var(--line); }
.row > :first-child { flex: 1; min-width: 0; }
.row p, .row h3 { overflow-wrap: anywhere; }
h1, .row h3 { hyphens: auto; }
h2 { margin: 36px 0 12px; font-size: 16px; font-weight: 620; line-height: 1.3; letter-spacing: -0.01em; }
h3 { margin: 0; font-size: 14px; font-weight: 550; line-height: 20px; }
.row .link { flex: none; text-align: right; }
.here { display: inline-block; margin-left: 8px; padding: 0 8px; border-radius: 8px; background: var(--good-ground); color: var(--good); font-size: 12.5px; font-weight: 550; }
.link.bad { color: var(--bad); }
.reference { display: grid; margin-top: 28px; color: var(--muted); font-size: 12.5px; line-height: 1.6; overflow-wrap: anywhere; }
.visually-hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 479px) {
  body { padding: 0; background: var(--surface); grid-template-rows: auto auto 1fr; }
  main { padding: 32px 20px 40px; border: 0; border-radius: 0; box-shadow: none; max-width: none; }
}
@media (prefers-reduced-motion: reduce) { .button { transition: none; } }
@media (forced-colors: active) { .button, .alert, main { border-color: currentcolor; } .mark { border: 1px solid; } }
`
  .replaceAll(/\s*\n\s*/g, '\n')
  .trim()
