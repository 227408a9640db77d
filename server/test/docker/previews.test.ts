import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { echoApp, expectEchoApp, PreviewBrowser } from '../preview-browser.ts';
import { DockerLab } from './docker-lab.ts';

let lab: DockerLab;
let app: TestApp;
before(async () => {
  lab = await DockerLab.open();
  app = await startTestApp({ workspaceRuntime: lab.runtime });
});
after(async () => {
  await app.stop();
  await lab.close();
});

test('an app in a container is previewed: requests and WebSockets reach it through the daemon', async () => {
  const user = await app.signIn();
  lab.adopt(user.id);
  await user.call('POST /api/workspace/status');
  const hold = await app.service.deps.workspaces.hold(user.id, 'exec');
  const headers = { 'content-type': 'application/json' };
  const command = `exec node -e "${echoApp.replaceAll('\n', ' ')}"`;
  const body = JSON.stringify({ id: 'app', command, background: true });
  const answer = await hold.daemon.request('/v1/exec', { method: 'POST', headers, body });
  answer.body.resume();
  await hold.release();
  await expectEchoApp(new PreviewBrowser(() => app.url), user);
});
