import * as React from 'react';
import * as jsxRuntime from 'react/jsx-runtime';
import * as reactDom from 'react-dom';
import * as reactDomClient from 'react-dom/client';
import { transform } from 'sucrase';

/** Modules that a component can import. */
const modules: Readonly<Record<string, unknown>> = {
  react: React,
  'react/jsx-runtime': jsxRuntime,
  'react-dom': reactDom,
  'react-dom/client': reactDomClient,
};

const style = 'body{margin:1rem;font-family:system-ui,sans-serif;line-height:1.5;color:CanvasText;background:Canvas}';

type Exports = Record<string, unknown>;
type Run = (require: (name: string) => unknown, module: { exports: Exports }, exports: Exports) => void;
declare global {
  var homeportModule: ((run: Run) => void) | undefined;
}

/** Compiles the file and shows what it exports by default; one that renders by itself finds `#root`. */
export function showComponent(source: string, isTypeScript: boolean, tell: (error: unknown) => void): void {
  const { code } = transform(source, {
    transforms: ['jsx', 'imports', ...(isTypeScript ? (['typescript'] as const) : [])],
    jsxRuntime: 'automatic',
    production: true,
  });
  document.documentElement.style.colorScheme = 'light dark';
  document.head.append(Object.assign(document.createElement('style'), { textContent: style }));
  const root = Object.assign(document.createElement('div'), { id: 'root' });
  document.body.replaceChildren(root);
  const exports = load(code);
  const component = exports.default ?? Object.values(exports).find((each) => typeof each === 'function');
  if (typeof component !== 'function') {
    if (root.childElementCount === 0) tell('The file exports no component. Export one by default.');
    return;
  }
  reactDomClient
    .createRoot(root, { onUncaughtError: tell, onCaughtError: tell })
    .render(React.createElement(component as React.ComponentType));
}

/** The policy allows scripts in the page, but no `eval`. */
function load(code: string): Exports {
  const module = { exports: {} as Exports };
  globalThis.homeportModule = (run) => run(requireModule, module, module.exports);
  const script = document.createElement('script');
  script.textContent = `homeportModule(function (require, module, exports) {${code}\n})`;
  document.body.append(script);
  globalThis.homeportModule = undefined;
  return module.exports;
}

function requireModule(name: string): unknown {
  const known = modules[name];
  if (known !== undefined) return known;
  throw new Error(`“${name}” is not available here: only React can be imported.`);
}
