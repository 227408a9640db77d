import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openTerminal } from '../../faults/people.ts';
import { installPackages } from '../../packages.ts';
import { expect } from '../fixtures.ts';
import { test } from '../workspace-fixtures.ts';

/** The servers that most people use, installed in the workspace as `npm install` and `pip install` would. */

test('runs Vite in the workspace with hot reload', async ({ page, installation, person }) => {
  await person.caller.must('POST', '/api/workspace/status');
  const { user } = await person.caller.must('GET', '/api/me');
  const home = join(installation.dataDir, 'workspaces', user.id, 'home');
  const site = join(home, 'site');
  installPackages(site, ['vite']);
  // The Node of the system can be too old for Vite.
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
  // A change before the socket is open reaches no page.
  const isConnected = page.waitForEvent('console', (message) => message.text().includes('[vite] connected'));
  await page.getByRole('button', { name: 'Open port 5173' }).click();
  const heading = page.frameLocator('iframe[title="App on port 5173"]').locator('h1');
  await expect(heading).toHaveText('first');
  await expect(heading).toHaveCSS('color', 'rgb(255, 0, 0)');
  await isConnected;
  write('text.js', `export const text = 'second';`);
  await expect(heading).toHaveText('second');
  write('style.css', 'h1 { color: rgb(0, 0, 255) }');
  await expect(heading).toHaveCSS('color', 'rgb(0, 0, 255)');
  expect(await heading.evaluate(() => sessionStorage.loads)).toBe('1');
  terminal.close();
});

/** A web app in Python: Flask if this machine has it, else Python's standard library. */

const modules = ['flask', 'werkzeug', 'jinja2', 'click', 'itsdangerous', 'markupsafe', 'blinker'];
const find = `import ${modules.join(', ')}\nfor each in (${modules.join(', ')}): print(each.__file__)`;

/** The folders of Flask and of all that it needs. */
function findFlask(): string[] {
  const { stdout, status } = spawnSync('python3', ['-W', 'ignore', '-c', find], { encoding: 'utf8' });
  return status === 0 ? stdout.trim().split('\n').map(dirname) : [];
}

/** App that shows `word`. Sending a name sets a cookie, redirects back, and shows a greeting. */
const flaskApp = (word: string) => `
from flask import Flask, redirect, request, session
app = Flask(__name__)
app.secret_key = 'only for tests'
@app.route('/')
def home():
    return '<h1>${word}</h1><p>' + session.get('name', 'nobody') + '</p><form method="post" action="/name"><input name="name" aria-label="Name"><button>Send</button></form>'
@app.route('/name', methods=['POST'])
def name():
    session['name'] = request.form['name']
    return redirect('http://localhost:5000/')
`;
const plainApp = (word: string) => `
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from http.cookies import SimpleCookie
from urllib.parse import parse_qs
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = SimpleCookie(self.headers.get('cookie', '')).get('name')
        self.send_response(200)
        self.send_header('content-type', 'text/html')
        self.end_headers()
        self.wfile.write(('<h1>${word}</h1><p>' + (name.value if name else 'nobody') + '</p><form method="post" action="/name"><input name="name" aria-label="Name"><button>Send</button></form>').encode())
    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers['content-length'])).decode())
        self.send_response(302)
        self.send_header('set-cookie', 'name=' + form['name'][0])
        self.send_header('location', 'http://localhost:5000/')
        self.end_headers()
ThreadingHTTPServer(('127.0.0.1', 5000), Handler).serve_forever()
`;

test('runs a Python app in the workspace, with forms, cookies and reloads', async ({ page, installation, person }) => {
  await person.caller.must('POST', '/api/workspace/status');
  const { user } = await person.caller.must('GET', '/api/me');
  const home = join(installation.dataDir, 'workspaces', user.id, 'home');
  const flask = findFlask();
  const source = flask.length > 0 ? flaskApp : plainApp;
  mkdirSync(join(home, 'python'));
  for (const folder of flask) {
    const name = basename(folder);
    cpSync(folder, join(home, 'python', name), { recursive: true });
    // Some ask for their versions.
    const about = join(home, `python/${name}-0.dist-info`);
    mkdirSync(about);
    writeFileSync(join(about, 'METADATA'), `Metadata-Version: 2.1\nName: ${name}\nVersion: 0\n`);
  }
  const write = (word: string) => writeFileSync(join(home, 'app.py'), source(word));
  write('first');
  const run = flask.length > 0 ? '-m flask --app app run --debug --port 5000' : 'app.py';
  const terminal = await openTerminal(person.caller);
  terminal.send(new TextEncoder().encode(`PYTHONPATH=~/python python3 ${run}\n`));
  const listed = async () => (await person.caller.must('GET', '/api/workspace/ports')).ports;
  await expect.poll(listed, { timeout: 60_000 }).toMatchObject([{ port: 5000 }]);

  await page.goto(`${installation.url}/workspace?tab=apps`);
  await page.getByRole('button', { name: 'Open port 5000' }).click();
  const app = page.frameLocator('iframe[title="App on port 5000"]');
  await expect(app.locator('h1')).toHaveText('first');
  await expect(app.locator('p')).toHaveText('nobody');
  await app.getByLabel('Name').fill('Ada');
  await app.getByRole('button', { name: 'Send' }).click();
  await expect(app.locator('p')).toHaveText('Ada');
  write('second');
  if (flask.length === 0) terminal.send(new TextEncoder().encode(`\u0003python3 ${run}\n`));
  await expect(async () => {
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect(app.locator('h1')).toHaveText('second', { timeout: 10_000 });
  }).toPass({ timeout: 120_000 });
  await expect(app.locator('p')).toHaveText('Ada');
  terminal.close();
});
