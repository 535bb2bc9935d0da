import RecordModel
import RecordObjects

/// A model of the tests: every kind of property, as an Xcode file and as values.
enum Shop {
    /// The `contents` of an `.xcdatamodel` as Xcode writes it.
    static let xml = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
        lastSavedToolsVersion="22522" systemVersion="23C71" minimumToolsVersion="Automatic" \
        sourceLanguage="Swift" usedWithCloudKit="YES" userDefinedModelVersionIdentifier="">
            <entity name="Article" representedClassName="Article" isAbstract="YES" syncable="YES">
                <attribute name="added" optional="YES" attributeType="Date" \
        defaultDateTimeInterval="0" usesScalarValueType="NO"/>
                <attribute name="price" optional="YES" attributeType="Decimal" minValueString="0" \
        defaultValueString="0.0"/>
                <attribute name="sku" attributeType="String" minValueString="3" \
        maxValueString="12" defaultValueString="000" regularExpressionString="[0-9]+">
                    <userInfo>
                        <entry key="label" value="&quot;A &amp; B&quot;&#10;&lt;1&gt;"/>
                    </userInfo>
                </attribute>
                <relationship name="shelves" optional="YES" toMany="YES" maxCount="9" \
        deletionRule="Nullify" destinationEntity="Shelf" inverseName="articles" \
        inverseEntity="Shelf"/>
                <fetchIndex name="bySku">
                    <fetchIndexElement property="sku" type="Binary" order="ascending"/>
                </fetchIndex>
            </entity>
            <entity name="Book" representedClassName="Book" parentEntity="Article" \
        elementID="Volume" syncable="YES" codeGenerationType="class">
                <attribute name="cover" optional="YES" attributeType="Binary" \
        allowsExternalBinaryDataStorage="YES"/>
                <attribute name="draft" optional="YES" transient="YES" attributeType="String"/>
                <attribute name="pages" optional="YES" attributeType="Integer 32" \
        defaultValueString="0" usesScalarValueType="YES" elementID="pageCount"/>
                <attribute name="secret" optional="YES" attributeType="String" \
        allowsCloudEncryption="YES"/>
                <attribute name="shelfCount" optional="YES" attributeType="Integer 64" \
        derived="YES" derivationExpression="shelves.@count" usesScalarValueType="YES"/>
                <relationship name="sequel" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Book" inverseName="prequel" inverseEntity="Book"/>
                <relationship name="prequel" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Book" inverseName="sequel" inverseEntity="Book"/>
            </entity>
            <entity name="Shelf" representedClassName="Shelf" syncable="YES">
                <attribute name="colour" optional="YES" attributeType="Transformable" \
        valueTransformerName="" customClassName="NSColor"/>
                <attribute name="id" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
                <relationship name="articles" optional="YES" toMany="YES" deletionRule="Cascade" \
        destinationEntity="Article" inverseName="shelves" inverseEntity="Article"/>
                <relationship name="room" optional="YES" maxCount="1" deletionRule="No Action" \
        destinationEntity="Room" inverseName="shelves" inverseEntity="Room"/>
                <userInfo>
                    <entry key="note" value="a shelf"/>
                </userInfo>
            </entity>
            <entity name="Room" representedClassName="Room" syncable="YES">
                <attribute name="isOpen" optional="YES" attributeType="Boolean" \
        defaultValueString="NO" usesScalarValueType="YES"/>
                <relationship name="shelves" optional="YES" toMany="YES" minCount="1" \
        deletionRule="Nullify" destinationEntity="Shelf" inverseName="room" inverseEntity="Shelf"/>
            </entity>
            <fetchRequest name="cheap" entity="Book" predicateString="price &lt; 10"/>
            <configuration name="Cloud" usedWithCloudKit="YES">
                <memberEntity name="Article"/>
                <memberEntity name="Book"/>
                <memberEntity name="Shelf"/>
                <memberEntity name="Room"/>
            </configuration>
            <configuration name="Part">
                <memberEntity name="Shelf"/>
            </configuration>
            <elements>
                <element name="Book" positionX="-9" positionY="162" width="128" height="45"/>
            </elements>
        </model>
        """

    static func model() throws -> ObjectModel { try ModelText.parse(Array(xml.utf8)) }
}

/// Returns the message of the error that a body throws.
func message(of body: () throws(RecordError) -> Void) -> String? {
    do throws(RecordError) {
        try body()
        return nil
    } catch {
        return error.description
    }
}
