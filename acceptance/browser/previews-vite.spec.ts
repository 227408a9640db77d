import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTerminal } from '../faults/people.ts';
import { installPackages } from '../packages.ts';
import { expect } from './fixtures.ts';
import { test } from './workspace-fixtures.ts';

/** The dev server that most people use, installed in the workspace as `npm install` would. */

test('Vite runs in the workspace, and what changes shows at once without loading the page again', async ({
  page,
  installation,
  person,
}) => {
  await person.caller.must('POST', '/api/workspace/status');
  const { user } = await person.caller.must('GET', '/api/me');
  const home = join(installation.dataDir, 'workspaces', user.id, 'home');
  const site = join(home, 'site');
  installPackages(site, ['vite']);
  // That of the system may be too old for it.
  cpSync(process.execPath, join(home, 'node'));
  const write = (name: string, text: string) => writeFileSync(join(site, name), text);
  write('index.html', '<!doctype html><h1></h1><script type="module" src="/main.js"></script>');
  write('text.js', `export const text = 'first';`);
  write('style.css', 'h1 { color: rgb(255, 0, 0) }');
  write(
    'main.js',
    `import './style.css'; import { text } from './text.js';
    const show = (text) => { document.querySelector('h1').textContent = text; };
    show(text);
    import.meta.hot.accept('./text.js', (changed) => show(changed.text));
    sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;`,
  );
  const terminal = await openTerminal(person.caller);
  terminal.send(new TextEncoder().encode('cd ~/site && ~/node node_modules/vite/bin/vite.js --port 5173\n'));
  const listed = async () => (await person.caller.must('GET', '/api/workspace/ports')).ports;
  await expect.poll(listed, { timeout: 60_000 }).toMatchObject([{ port: 5173 }]);

  await page.goto(`${installation.url}/workspace?tab=apps`);
  await page.getByRole('button', { name: 'Open port 5173' }).click();
  const heading = page.frameLocator('iframe[title="App on port 5173"]').locator('h1');
  await expect(heading).toHaveText('first');
  await expect(heading).toHaveCSS('color', 'rgb(255, 0, 0)');
  write('text.js', `export const text = 'second';`);
  await expect(heading).toHaveText('second');
  write('style.css', 'h1 { color: rgb(0, 0, 255) }');
  await expect(heading).toHaveCSS('color', 'rgb(0, 0, 255)');
  expect(await heading.evaluate(() => sessionStorage.loads)).toBe('1');
  terminal.close();
});
