import { randomUUID } from 'node:crypto';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { Pool } from 'pg';

/**
 * M: the smallest application with the same three responses on the same rows: Hono, pg, one session look-up and one
 * statement per request. It checks no signature, does not validate, and shapes no data that the statement can shape.
 */
const [socketFolder = ''] = process.argv.slice(2);
const pool = new Pool({ host: socketFolder, user: 'homeport', database: 'homeport', max: 20 });
const app = new Hono();

const chatColumns = `c.id, c.title, c.archived, c.project_id as "projectId", c.model_pinned as "modelPinned",
  c.model_id as "modelId", c.mcp_server_ids as "mcpServerIds", c.context_start_message_id as "contextStartMessageId",
  c.created_at as "createdAt", c.updated_at as "updatedAt",
  coalesce((select true from responses r where r.chat_id = c.id and r.state = 'running'),
    (select true from inputs i where i.chat_id = c.id and i.state = 'queued' limit 1), false) as running`;

type User = { id: string; expires_at: Date };

async function findUser(context: Context): Promise<User | undefined> {
  const cookie = /homeport\.session_token=([^;.]+)/.exec(context.req.header('cookie') ?? '')?.[1] ?? '';
  const { rows } = await pool.query<User>({
    name: 'user',
    text: `select s.expires_at, u.id, u.name, u.email, u.role, u.enabled, u.must_change_password as "mustChangePassword",
        u.provider_settings_enabled as "providerSettingsEnabled", u.mcp_settings_enabled as "mcpSettingsEnabled"
      from sessions s join users u on u.id = s.user_id where s.token = $1`,
    values: [decodeURIComponent(cookie)],
  });
  const user = rows[0];
  return user !== undefined && user.expires_at.getTime() > Date.now() ? user : undefined;
}

app.get('/api/me', async (context) => {
  const user = await findUser(context);
  return user === undefined ? context.json({}, 401) : context.json({ user });
});

app.get('/api/chats', async (context) => {
  const user = await findUser(context);
  if (user === undefined) return context.json({}, 401);
  const { rows } = await pool.query({
    name: 'list',
    text: `select ${chatColumns} from chats c where c.owner_id = $1 and not c.archived
      order by c.updated_at desc, c.id desc limit 51`,
    values: [user.id],
  });
  return context.json({ chats: rows.slice(0, 50), nextCursor: rows.length > 50 ? String(rows[49].id) : null });
});

app.post('/api/chats', async (context) => {
  const user = await findUser(context);
  if (user === undefined) return context.json({}, 401);
  const { title } = await context.req.json<{ title: string }>();
  const { rows } = await pool.query({
    name: 'insert',
    text: `insert into chats as c (id, owner_id, title, title_source, title_search)
      values ($1, $2, $3, 'person', to_tsvector('simple', $3)) returning ${chatColumns}`,
    values: [randomUUID(), user.id, title],
  });
  return context.json({ chat: rows[0] }, 201);
});

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on ${port}`);
});
process.on('SIGTERM', () => {
  server.close();
  process.exit(0);
});
