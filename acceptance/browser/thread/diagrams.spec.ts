import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible } from '../accessible.ts';
import { expect, test as strictTest } from '../fixtures.ts';
import { patience } from '../timers.ts';

/** Diagrams: drawn in a frame without an origin, shown as a picture; their code is untrusted. */

const answer = (page: Page) => page.locator('[data-role="assistant"]').last();
const fenced = (code: string) => `\`\`\`mermaid\n${code}\n\`\`\``;
const show = (page: Page) => answer(page).getByRole('button', { name: 'Preview' });
const picture = (page: Page) => answer(page).locator('figure img');

async function ask(page: Page, text: string): Promise<void> {
  const answers = page.locator('[data-role="assistant"][aria-busy="false"]');
  const before = await answers.count();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(text);
  await field.press('Enter');
  await expect(answers).toHaveCount(before + 1);
}

/** A drawn picture has a width; an image that cannot be decoded is zero wide. */
const drawnWidth = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const answers = [...document.querySelectorAll('[data-role="assistant"]')];
    return answers.at(-1)?.querySelector('figure img')?.naturalWidth ?? 0;
  })()`);

strictTest(
  'a diagram is shown as a picture, in both schemes, and as code again',
  async ({ page, person, installation, provider }) => {
    await addModels(person.caller, provider, ['echo']);
    await page.goto(installation.url);

    await strictTest.step('drawn at once', async () => {
      await ask(
        page,
        `Here:\n\n${fenced('flowchart LR\n  accTitle: Way into port\n  A[Sea] --> B{Tide?} --> C[Harbour]')}`,
      );
      await expect(page.getByRole('img', { name: 'Diagram: Way into port' })).toBeVisible();
      await expect.poll(() => drawnWidth(page)).toBeGreaterThan(100);
      await expect(answer(page).locator('pre')).toBeHidden();
      await expect(page.locator('iframe')).toHaveCount(0);
      await expectAccessible(page);
    });

    await strictTest.step('the other scheme has another picture', async () => {
      const before = await picture(page).getAttribute('src');
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect(picture(page)).not.toHaveAttribute('src', before ?? '');
      await expect.poll(() => drawnWidth(page)).toBeGreaterThan(100);
      await expectAccessible(page);
    });

    await strictTest.step('the code again', async () => {
      await answer(page).getByRole('button', { name: 'Show code' }).click();
      await expect(answer(page).locator('pre')).toContainText('A[Sea]');
      await expect(picture(page)).toHaveCount(0);
      await show(page).click();
      await expect(picture(page)).toBeVisible();
    });

    await strictTest.step('code that is no diagram says so, and stays', async () => {
      await ask(page, fenced('flowchart LR\n  A[Sea --> B'));
      await expect(answer(page).getByText('This code can’t be drawn as a diagram.')).toBeVisible();
      await expect(answer(page)).toContainText('Parse error on line');
      await expect(answer(page).locator('pre')).toContainText('A[Sea');
      await expect(page.locator('iframe')).toHaveCount(0);
      await expectAccessible(page);
    });

    await strictTest.step('other code has no diagram', async () => {
      await ask(page, '```js\nconst a = 1;\n```');
      await expect(show(page)).toHaveCount(0);
    });

    // After the last scan, which would draw each diagram again for each scheme.
    await strictTest.step('every common kind', async () => {
      for (const code of [
        'sequenceDiagram\n  Ship->>Pilot: Which way?\n  Pilot-->>Ship: Follow me',
        'classDiagram\n  Ship <|-- Ferry\n  Ship : +int length',
        'stateDiagram-v2\n  [*] --> Moored\n  Moored --> Sailing',
        'erDiagram\n  SHIP ||--o{ VOYAGE : makes',
        'gantt\n  title Voyage\n  dateFormat YYYY-MM-DD\n  section Sea\n  Crossing :a1, 2026-01-01, 3d',
        'pie title Cargo\n  "Grain" : 40\n  "Coal" : 60',
        'mindmap\n  root((Port))\n    Quay\n    Crane',
        'gitGraph\n  commit\n  branch pilot\n  commit',
        'journey\n  title Day\n  section Morning\n    Sail: 5: Crew',
        'timeline\n  title Harbour\n  1900 : Built',
      ]) {
        await ask(page, fenced(code));
        await expect(picture(page), code).toBeVisible();
        await expect.poll(() => drawnWidth(page), code).toBeGreaterThan(50);
      }
    });
  },
);

strictTest(
  'a page that draws nothing is given up, and can be tried again',
  async ({ page, person, installation, provider }) => {
    await addModels(person.caller, provider, ['echo']);
    await page.clock.install();
    await page.route('**/diagram.html', (route) => route.fulfill({ contentType: 'text/html', body: 'Nothing' }));
    await page.goto(installation.url);
    await ask(page, fenced('flowchart LR\n  A --> B'));
    await page.clock.fastForward(10_001);
    await expect(answer(page).getByText('The diagram took too long to draw.')).toBeVisible();
    // The clock of the page is stopped, so that its limit does not expire before the test sees the frame.
    await page.clock.pauseAt(Date.now() + 60_000);
    await show(page).click();
    await expect(page.locator('iframe')).toHaveCount(1);
    await page.clock.fastForward(10_001);
    await expect(answer(page).getByText('The diagram took too long to draw.')).toBeVisible();
    await expect(page.locator('iframe')).toHaveCount(0);
    await page.unroute('**/diagram.html');
    await page.clock.resume();
    await page.evaluate(patience);
    await show(page).click();
    await expect(picture(page)).toBeVisible();
  },
);

/** The browser reports what a policy refused, and here it has to refuse something; other errors still fail. */
const test = strictTest.extend({
  quiet: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await use(undefined);
    expect(errors).toEqual([]);
  },
});

async function startCanary() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return { url: `http://localhost:${address.port}`, seen, close: () => server.close() };
}

function hostile(canary: string): string[] {
  return [
    'flowchart TD\n  A --> B\n  click A "javascript:hit()"\n  click B call hit()',
    'flowchart TD\n  A["<img src=x onerror=hit()>"] --> B["<script>hit()</script>"]',
    `flowchart TD\n  A["<img src='${canary}/label'>"] --> B["<b style='background:url(${canary}/style)'>b</b>"]`,
    `%%{init: {"htmlLabels": true, "flowchart": {"htmlLabels": true}, "securityLevel": "loose"}}%%\nflowchart TD\n  A["<img src='${canary}/loose' onerror=hit()>"] --> B\n  click B "javascript:hit()"`,
    `%%{init: {"themeCSS": "@import url(${canary}/import); * { background: url(${canary}/theme) }"}}%%\nflowchart TD\n  A --> B`,
    `---\nconfig:\n  themeCSS: "* { fill: url(${canary}/front) }"\n  themeVariables:\n    primaryColor: "red; background: url(${canary}/variable)"\n---\nflowchart TD\n  A --> B`,
    `flowchart TD\n  A@{ img: "${canary}/shape.png", label: "a", w: 60, h: 60 } --> B`,
    `flowchart TD\n  A --> B\n  style A fill:url(${canary}/fill),background:url(${canary}/background)\n  classDef x fill:url(${canary}/class)\n  class B x`,
    `flowchart TD\n  A["\`![a](${canary}/markdown.png) **b**\`"] --> B\n  click B href "${canary}/link" _blank`,
    `sequenceDiagram\n  participant A\n  link A: Board @ javascript:hit()\n  A->>A: <svg onload=hit()><image href="${canary}/sequence"></svg>`,
    `classDiagram\n  class A\n  link A "javascript:hit()" "tip"\n  callback A "hit" "tip"\n  A : +<img src=${canary}/class>`,
    `C4Context\n  Person(a, "a", "d", $sprite="${canary}/sprite.png")\n  UpdateElementStyle(a, $bgColor="url(${canary}/c4)")`,
    `%%{init: {"dompurifyConfig": {"ADD_TAGS": ["script", "iframe"], "ADD_ATTR": ["onload", "onerror"]}}}%%\nflowchart TD\n  A["<iframe src='${canary}/frame' onload=hit()></iframe>"]`,
    `%%{init: {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}}%%\nflowchart TD\n  A --> B`,
  ];
}

test('runs no script of a hostile diagram, sends no request, and leaves the page unchanged', async ({
  page,
  person,
  installation,
  provider,
}) => {
  const canary = await startCanary();
  await addModels(person.caller, provider, ['echo']);
  const events: string[] = [];
  await page.exposeFunction('hit', () => events.push('a script ran'));
  page.on('dialog', (dialog) => {
    events.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => events.push('a window opened'));
  await page.goto(installation.url);
  let drawn = 0;
  for (const code of hostile(canary.url)) {
    await ask(page, fenced(code));
    const outcome = picture(page).or(answer(page).getByText('This code can’t be drawn as a diagram.'));
    await expect(outcome, code).toBeVisible();
    if ((await picture(page).count()) > 0) {
      drawn += 1;
      await expect.poll(() => drawnWidth(page), code).toBeGreaterThan(0);
      await picture(page).click();
    }
    expect(await answer(page).locator('figure :is(svg[id], iframe, script, style, foreignObject, a)').count()).toBe(0);
    expect(events, code).toEqual([]);
    expect(canary.seen, code).toEqual([]);
  }
  // Most are pictures with the harmful part removed: the test would be void if all of them failed.
  expect(drawn).toBeGreaterThan(8);
  expect(await page.evaluate('"polluted" in {}')).toBe(false);
  canary.close();
});

test('draws diagrams in a frame without origin, network or other pages around it', async ({ page, installation }) => {
  const response = await fetch(`${installation.url}/diagram.html`);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain('sandbox allow-scripts');
  expect(policy).toContain("frame-ancestors 'self'");
  await page.goto(`${installation.url}/diagram.html`);
  expect(await page.evaluate('self.origin')).toBe('null');
  const asked = `fetch('${installation.url}/api/health').then(() => 'answered', () => 'refused')`;
  expect(await page.evaluate(asked)).toBe('refused');
});
