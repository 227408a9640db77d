import type { NoticeCode } from '../chat/frames.ts';

/**
 * German texts of notices in answers, by `notice.<code>` and, narrower, their reason. In English a notice keeps the
 * server's own text.
 */
export const germanNotices: Record<`notice.${NoticeCode}`, string> & Record<string, string> = {
  'notice.mcp_drifted':
    'Die Werkzeuge des MCP-Servers „{server}“ haben sich geändert, seit ihnen vertraut wurde. Sie fehlen, bis die Änderungen geprüft sind und ihnen vertraut wird.',
  'notice.mcp_unreachable':
    'Der MCP-Server „{server}“ ließ sich nicht verwenden. Deshalb fehlten seine Werkzeuge in dieser Antwort.',
  'notice.mcp_sign_in':
    'Der MCP-Server „{server}“ verlangt, dass du dich anmeldest. Melde dich an und frage dann erneut, um seine Werkzeuge zu verwenden.',
  'notice.skill_changed':
    'Der Skill „{name}“ hat sich geändert, seit du ihm vertraut hast. Er fehlt, bis du ihn unter Einstellungen › Skills geprüft hast.',
  'notice.tools_unsupported': 'Dieses Modell nimmt keine Werkzeuge an. Es hat ohne sie geantwortet.',
  'notice.images_unsupported': 'Dieses Modell nimmt keine Bilder an. Es hat ohne sie geantwortet.',
  'notice.parameter_refused': 'Dieses Modell unterstützt eine Einstellung nicht. Es hat ohne sie geantwortet.',
  'notice.tools_left_out': 'Das Modell hat ohne diese Werkzeuge geantwortet: {names}.',
  'notice.tools_left_out.schema':
    'Die Definitionen dieser Werkzeuge sind mit diesem Modell nicht verwendbar. Es hat ohne sie geantwortet: {names}.',
  'notice.tools_left_out.refused':
    'Der Anbieter hat die Definitionen dieser Werkzeuge abgelehnt. Das Modell hat ohne sie geantwortet: {names}.',
  'notice.tools_left_out.limit':
    'Der Anbieter nimmt nur eine begrenzte Zahl von Werkzeugen an. Diese fehlten, weil sie am längsten nicht verwendet wurden: {names}.',
  'notice.thinking_dropped':
    'Ein anderes Modell setzt diese Antwort fort. Es sieht die Überlegungen des ersten Modells nicht.',
  'notice.picture_not_stored': 'Ein Bild dieser Antwort ließ sich nicht speichern.',
  'notice.turn_budget': 'Diese Antwort hat ihre Grenze erreicht. „Fortsetzen“ gibt ihr einen weiteren Durchgang.',
  'notice.assistant_unavailable':
    'Der Assistent dieser Unterhaltung steht dir nicht mehr zur Verfügung. Diese Antwort entstand ohne ihn.',
  'notice.assistant_incomplete':
    'Dir fehlt ein Teil dessen, was der Assistent „{name}“ verwendet: sein Modell oder MCP-Server. Er antwortet ohne das.',
};
