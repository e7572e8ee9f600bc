"""The words by which mail clients of many languages mark a quote, a header block, a signature or an automatic answer. Data only."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split("|"))


FROM = _words(
    """
    from von de da van fra från od от від από lähettäjä kimden gönderen feladó кого 寄件者 寄件人
    发件人 發件人 差出人 送信元 보낸사람 보낸 من מאת dari expéditeur remitente mittente absender afsender
    avsändare nadawca odesílatel odosielateľ šalje pošiljatelj expeditor ผู้ส่ง จาก từ
    saatja से प्रेषक از फ्रॉम
    """
)
SENT = _words(
    """
    sent date datum gesendet envoyé envoyee enviado enviada data inviato verzonden sendt
    skickat wysłano wyslano odesláno odoslané дата отправлено надіслано lähetetty päivä
    tarih gönderildi gönderme elküldve dátum dato poslano trimis ημερομηνία στάλθηκε 发送时间
    發送時間 日期 寄件日期 傳送時間 日時 送信日時 送信日 날짜 보낸날짜 التاريخ تاريخ נשלח תאריך dikirim tanggal fecha
    sendetidspunkt time kuupäev saadetud gửi ngày วันที่ ส่ง दिनांक
    """
)
TO = _words(
    """
    to an à para per aan til till do komu кому vastaanottaja kime alıcı címzett za către
    προς 收件人 收件者 宛先 받는사람 إلى אל kepada destinataire destinatario empfänger modtager
    mottagare odbiorca příjemce príjemca prima đến tới ถึง kellele kam प्रति
    """
)
COPY = _words(
    """
    cc copie copia kopie kopia kopi kópia копия копія 抄送 副本 참조 نسخة העתק tembusan bilgi
    másolatot
    """
)
SUBJECT = _words(
    """
    subject betreff objet asunto assunto oggetto onderwerp emne ämne temat předmět předmet
    predmet тема aihe konu tárgy subiect θέμα 主题 主題 主旨 件名 제목 الموضوع נושא perihal subjek
    zadeva tema chủ เรื่อง विषय
    """
)

WROTE = _words(
    """
    wrote writes schrieb schrieben geschrieben écrit ecrit écrivait escribió escribio
    escreveu scritto scrive schreef geschreven skrev napisał napisała napisal napísal napsal
    написал написала пишет писал написав пише kirjoitti yazdı yazmış írta napisao scris
    έγραψε 写道 寫道 のメール 작성 كتب كتبت כתב כתבה menulis viết เขียน kirjutas parašė rakstīja ने
    escrigué escribiu quoting zitat citando citat cita citazione schrijft בתאריך
    """
)
WROTE_WITHIN = _phrases(
    """
    写道 | 寫道 | のメール | 書きました | 작성 | 님이 | كتابة | كتب | כתב | เขียน | viết: | écrit | написа
    """
)

SIGN_OFFS = _phrases(
    """
    regards | kind regards | best regards | warm regards | many thanks and regards |
    thanks and regards | best wishes | sincerely | yours sincerely | cheers | best | kr | br |
    mit freundlichen grüßen | freundliche grüße | viele grüße | beste grüße | liebe grüße | mfg |
    gruß | grüße | lg | vg | cordialement | bien cordialement | bien à vous | saludos |
    un saludo | saludos cordiales | atentamente | atenciosamente | cumprimentos | abraços |
    cordiali saluti | saluti | distinti saluti | met vriendelijke groet | vriendelijke groet |
    groet | groeten | mvh | med vänlig hälsning | vänliga hälsningar | med vennlig hilsen |
    vennlig hilsen | med venlig hilsen | venlig hilsen | pozdrawiam | z poważaniem | s pozdravem |
    с уважением | з повагою | ystävällisin terveisin | terveisin | saygılarımla | üdvözlettel
    """
)
PHONE_FOOTERS = _phrases(
    """
    sent from my | sent from mail for | sent from outlook | sent from yahoo | sent via |
    sent with proton | get outlook for | von meinem | gesendet von | gesendet mit |
    envoyé de mon | envoyé depuis | enviado desde | enviado do meu | enviado de meu | inviato da |
    verzonden vanaf | verstuurd vanaf | skickat från | sendt fra | wysłane z | wysłano z |
    odesláno z | отправлено с | отправлено из | lähetetty | iphone'umdan gönderildi | 発信元 |
    iphoneから送信 | 发自我的 | 從我的 | 나의 | أُرسلت من | تم الإرسال من | נשלח מה
    """
)

AUTOMATIC_SUBJECTS = _phrases(
    """
    automatic response | auto_reply | away: | i am away | i'm away | currently away | currently out | on leave |
    annual leave | vacation | abwesenheit | nicht im büro | urlaub: | en congé | absence : | 不在 | 外出中 | 부재중 | 부재 중 |
    вне офиса | нет на месте | nieobecność | poza biurem | mimo kancelář | távollét | poissa | büroda değil |
    automatic reply | auto reply | auto-reply | autoreply | auto: | auto response |
    auto-response | autoresponse | automated reply | automated response | out of office |
    out of the office | out-of-office | ooo: | vacation: | on vacation | away from my mail |
    ticket received | automatische antwort | automatische antwoord | automatisch antwoord |
    autoantwort | abwesenheitsnotiz | abwesenheit: | abwesend: | réponse automatique |
    reponse automatique | absence du bureau | absent du bureau | message d'absence |
    respuesta automática | respuesta automatica | fuera de la oficina | resposta automática |
    resposta automatica | fora do escritório | risposta automatica | fuori ufficio | afwezig: |
    afwezigheid | automatiskt svar | autosvar | automatisk svar | fraværsmelding | frånvaro |
    odpowiedź automatyczna | automatyczna odpowiedź | automatická odpověď | automatická odpoveď |
    автоответ | автоматический ответ | автоматична відповідь | automaattinen vastaus |
    otomatik yanıt | automatikus válasz | răspuns automat | αυτόματη απάντηση | 自動応答 | 自动答复 |
    自动回复 | 自動回覆 | 자동 회신 | 자동회신 | 자동 응답 | رد تلقائي | תשובה אוטומטית | מענה אוטומטי |
    trả lời tự động | balasan otomatis | ตอบกลับอัตโนมัติ | automatski odgovor |
    samodejni odgovor | автоматичен отговор | undeliverable | undelivered mail |
    delivery status notification | delivery failure | delivery has failed | mail delivery failed |
    mail delivery failure | mail delivery system | message undeliverable | failure notice |
    returned mail | delayed mail | warning: message | unzustellbar | non remis |
    non distribuable | no se puede entregar | não é possível entregar | impossibile recapitare |
    onbestelbaar | return receipt | gelesen: | read: | not read:
    """
)
